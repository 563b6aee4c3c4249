package policy

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rulesOf are those of a namespace by the text of a file.
func rulesOf(t *testing.T, text, namespace string, labeled map[string]string) Rules {
	t.Helper()
	read, err := Read("policy.yaml", []byte(text))
	require.NoError(t, err)
	return read.For(namespace, labeled)
}

func TestTheBuiltInDefaultSetsEveryRule(t *testing.T) {
	all := reflect.ValueOf(Default().For("demo", nil).Settings)
	for i := range all.NumField() {
		if all.Field(i).IsZero() {
			t.Errorf("%s is not set", nameOf(all.Type().Field(i)))
		}
	}
}

func TestTheLastEntryThatMatchesCounts(t *testing.T) {
	const text = `
default: {maxReplicas: 10, priorityClasses: [low]}
namespaces:
- {names: [team-*, "!team-b"], maxReplicas: 20, priorityClasses: ["+", high]}
- {selector: {matchLabels: {tier: gold}}, maxReplicas: 30}
- {names: [team-c], selector: {matchLabels: {tier: gold}}, maxReplicas: 40}
`
	gold := map[string]string{"tier": "gold"}
	cases := map[string]struct {
		namespace string
		labels    map[string]string
		replicas  int64
		place     string
		high      bool
	}{
		"nobody's":                    {"other", nil, 10, "default of policy.yaml", false},
		"by its name":                 {"team-a", nil, 20, "namespaces[0] of policy.yaml", true},
		"but for a name":              {"team-b", nil, 10, "default of policy.yaml", false},
		"by its labels":               {"other", gold, 30, "namespaces[1] of policy.yaml", false},
		"by both, of different ones":  {"team-a", gold, 30, "namespaces[1] of policy.yaml", true},
		"by both, of the same":        {"team-c", gold, 40, "namespaces[2] of policy.yaml", true},
		"with one of two that it has": {"team-c", nil, 20, "namespaces[0] of policy.yaml", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := rulesOf(t, text, tc.namespace, tc.labels)
			if *got.MaxReplicas != tc.replicas || got.places["maxReplicas"] != tc.place {
				t.Errorf("got %d by %s, want %d by %s", *got.MaxReplicas, got.places["maxReplicas"], tc.replicas, tc.place)
			}
			if !got.PriorityClasses.Allow("low") || got.PriorityClasses.Allow("high") != tc.high {
				t.Errorf("got priority classes %v", got.PriorityClasses)
			}
		})
	}
}

func TestNamespacesOfTheSameEntriesShareRules(t *testing.T) {
	read, err := Read("policy.yaml", []byte("namespaces: [{names: [a, b], maxReplicas: 1}]"))
	require.NoError(t, err)
	if read.For("a", nil) != read.For("b", nil) || read.For("a", nil) == read.For("c", nil) {
		t.Error("rules are not shared by the entries that they come from")
	}
}

func TestAnnotationsAreLaidOverKindByKind(t *testing.T) {
	got := rulesOf(t, `
default: {annotations: {Ingress: ["+", "nginx.ingress.kubernetes.io/use-regex"], Service: ["metallb.io/*"]}}
namespaces: [{names: [demo], annotations: {Service: ["+", "!metallb.io/loadBalancerIPs"]}}]
`, "demo", nil)
	for key, want := range map[string]bool{"nginx.ingress.kubernetes.io/use-regex": true, "nginx.ingress.kubernetes.io/proxy-body-size": true, "nginx.ingress.kubernetes.io/server-snippet": false} {
		if got.allows("demo", key, "x", got.Annotations["*"], got.Annotations["Ingress"]) != want {
			t.Errorf("%s of an Ingress: got %t", key, !want)
		}
	}
	for key, want := range map[string]bool{"metallb.io/address-pool": true, "metallb.io/loadBalancerIPs": false, "cloud.google.com/neg": false} {
		if got.allows("demo", key, "x", got.Annotations["*"], got.Annotations["Service"]) != want {
			t.Errorf("%s of a Service: got %t", key, !want)
		}
	}
	if got.places["annotations.Service"] != "namespaces[0] of policy.yaml" || got.places["annotations.Ingress"] != "default of policy.yaml" || got.places["annotations.Pod"] != Shared.String() {
		t.Errorf("got places %v", got.places)
	}
}

func TestWhatASelectorNeedsIsKnown(t *testing.T) {
	for text, want := range map[string]bool{"": false, "namespaces: [{names: [a]}]": false, "namespaces: [{selector: {}}]": true} {
		read, err := Read("policy.yaml", []byte(text))
		if err != nil || read.Selects() != want {
			t.Errorf("%q: got %t, error %v", text, !want, err)
		}
	}
}

func TestHostsOfANamespace(t *testing.T) {
	const text = `
default: {hosts: ["*", "!internal.example.com", "!*.corp.example.com"]}
namespaces:
- {names: [a], hosts: [shop.example.com, "*.a.example.com"]}
- {names: [b], hosts: ["+", b.example.com], wildcardHosts: true}
- {names: [all], hosts: ["*"], wildcardHosts: true}
- {names: [none], hosts: []}
`
	cases := map[string]struct {
		namespace, host string
		may, granted    bool
	}{
		"granted":                                  {"a", "shop.example.com", true, true},
		"in capitals":                              {"a", "Shop.Example.com", true, true},
		"granted by a wildcard":                    {"a", "x.y.a.example.com", true, true},
		"the wildcard that is granted":             {"a", "*.a.example.com", true, true},
		"a wildcard within the one granted":        {"a", "*.x.a.example.com", true, true},
		"the domain of a wildcard":                 {"a", "a.example.com", false, false},
		"one beyond those granted":                 {"a", "other.example.com", false, false},
		"all hosts, with some granted":             {"a", "", false, false},
		"another's":                                {"b", "shop.example.com", false, false},
		"below another's domain":                   {"b", "x.a.example.com", false, false},
		"a wildcard over another's":                {"b", "*.example.com", false, false},
		"all hosts, where some are granted":        {"b", "", false, false},
		"granted besides":                          {"b", "b.example.com", true, true},
		"of the default, besides":                  {"b", "free.example.com", true, false},
		"refused by the default":                   {"b", "internal.example.com", false, false},
		"a wildcard over what the default refuses": {"b", "*.corp.example.com", false, false},
		"a wildcard that is nobody's":              {"b", "*.free.org", true, false},
		"any, for whom all are":                    {"all", "shop.example.com", true, false},
		"all hosts, for whom all are":              {"all", "", true, false},
		"of the default":                           {"c", "free.example.com", true, false},
		"a wildcard by default":                    {"c", "*.free.org", false, false},
		"all hosts by default":                     {"c", "", false, false},
		"granted to another, by default":           {"c", "b.example.com", false, false},
		"nothing":                                  {"none", "free.example.com", false, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rules := rulesOf(t, text, tc.namespace, nil)
			may, why := rules.MayUse(tc.host)
			if may != tc.may || may != (why.Why == "") || rules.Grants(tc.host) != tc.granted {
				t.Errorf("got %t (%s), granted %t", may, why.Why, rules.Grants(tc.host))
			}
		})
	}
}

func TestRulesOfNowhereAllowEverything(t *testing.T) {
	var rules Rules
	if may, _ := rules.MayUse(""); !may || rules.Grants("a") || rules.Shares("a") || rules.Check(nil) != nil {
		t.Error("something is refused")
	}
	var none *Policy
	if none.For("demo", nil) != rules || none.Selects() {
		t.Error("no policy has rules")
	}
}

func TestSharedHosts(t *testing.T) {
	rules := rulesOf(t, `default: {sharedHosts: ["*.example.com"]}`, "demo", nil)
	if !rules.Shares("shop.example.com") || rules.Shares("example.com") {
		t.Errorf("got %v", rules.SharedHosts)
	}
	if _, why := rulesOf(t, `default: {hosts: [a.example.com]}`, "demo", nil).MayUse("b.example.com"); !strings.Contains(why.Why, "hosts allows a.example.com (default of policy.yaml, over the built-in policy shared)") {
		t.Errorf("got %q", why)
	}
}

func TestHostsThatWhoeverMakesANamespaceGetsAreWarnedOf(t *testing.T) {
	for text, want := range map[string]bool{
		"{names: [team-a], hosts: [a.example.com]}":                                       false,
		"{names: [team-*], hosts: [a.example.com]}":                                       true,
		"{names: [a, b*], hosts: ['+', a.example.com]}":                                   true,
		"{selector: {matchLabels: {a: b}}, hosts: [a.example.com]}":                       true,
		"{names: [team-*], hosts: ['*', '!a.example.com'], wildcardHosts: true}":          false,
		"{names: [team-*], maxReplicas: 5}":                                               false,
		"{names: [team-a], selector: {matchLabels: {a: b}}, hosts: ['+', a.example.com]}": false,
	} {
		read, err := Read("policy.yaml", []byte("namespaces: ["+text+"]"))
		require.NoError(t, err)
		if got := read.Warnings(); len(got) > 0 != want || want && !strings.HasPrefix(got[0], "namespaces[0] of policy.yaml grants hosts") {
			t.Errorf("%s: got %q", text, got)
		}
	}
}

func TestHostsBelowWildcardsOfOthers(t *testing.T) {
	for text, want := range map[string]struct{ may, named bool }{
		``:                              {true, false},
		`default: {belowWildcards: []}`: {false, false},
		`default: {belowWildcards: ["*.example.com"]}`:                           {true, true},
		`default: {belowWildcards: ["*", "*.example.com"]}`:                      {true, true},
		`default: {belowWildcards: ["*", "*.example.org"]}`:                      {true, false},
		`default: {belowWildcards: ["*", "!shop.example.com"]}`:                  {false, false},
		`namespaces: [{names: [demo], belowWildcards: ["+", shop.example.com]}]`: {true, true},
		`namespaces: [{names: [other], belowWildcards: []}]`:                     {true, false},
	} {
		if may, named := rulesOf(t, text, "demo", nil).Below("Shop.example.com"); may != want.may || named != want.named {
			t.Errorf("%s: got %t, named %t", text, may, named)
		}
	}
	if may, named := (Rules{}).Below("shop.example.com"); !may || !named {
		t.Error("an unknown cluster refuses or warns")
	}
}

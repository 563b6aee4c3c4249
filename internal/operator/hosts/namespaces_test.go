package hosts

import (
	"testing"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// A host belongs to one namespace. Each case is something by which another namespace could get requests of a host.
func TestContradictionsBetweenNamespaces(t *testing.T) {
	const host = "a.example.com"
	ingressOf := func(class string) func(*Claim) { return at(Entry{Kind: "Ingress", Name: class}) }
	cases := map[string]struct {
		a, b          Claim
		apart, shared bool // whether they contradict each other from two namespaces, and if the host is shared
		beside        bool // in one namespace
	}{
		"the same":                              {a: claim(host, Prefix, "/"), b: claim(host, Prefix, "/"), apart: true, shared: true, beside: true},
		"a longer path":                         {a: claim(host, Prefix, "/app"), b: claim(host, Prefix, "/app/login"), apart: true, shared: true},
		"all paths under one":                   {a: claim(host, Prefix, "/app"), b: claim(host, Prefix, "/"), apart: true, shared: true},
		"a path beside":                         {a: claim(host, Prefix, "/app"), b: claim(host, Prefix, "/shop"), apart: true},
		"a path in percent encoding":            {a: claim(host, Prefix, "/app"), b: claim(host, Exact, "/%61pp"), apart: true, shared: true},
		"a path with parts that mean nothing":   {a: claim(host, Prefix, "/app"), b: claim(host, Exact, "/x/..//./app"), apart: true, shared: true},
		"a regular expression":                  {a: claim(host, Prefix, "/app"), b: claim(host, Pattern, "/.*"), apart: true, shared: true},
		"a regular expression for another path": {a: claim(host, Prefix, "/app"), b: claim(host, Pattern, "/shop/.*"), apart: true},
		"a wildcard over it":                    {a: claim(host, Prefix, "/"), b: claim("*.example.com", Prefix, "/"), apart: true, shared: true},
		"a wildcard over it, on another path":   {a: claim(host, Prefix, "/app"), b: claim("*.example.com", Prefix, "/shop"), apart: true},
		"a wider wildcard":                      {a: claim("*.example.com", Prefix, "/"), b: claim("*.com", Prefix, "/x"), apart: true, shared: true},
		"another host":                          {a: claim(host, Prefix, "/"), b: claim("b.example.com", Prefix, "/")},
		"another class":                         {a: claim(host, Prefix, "/a", ingressOf("nginx")), b: claim(host, Prefix, "/b", ingressOf("other")), apart: true},
		"an Ingress and a route":                {a: claim(host, Prefix, "/a", ingressOf("nginx")), b: claim(host, Prefix, "/b"), apart: true},
		"all hosts of the gateway":              {a: claim(host, Prefix, "/a"), b: claim("", Prefix, "/b")},
	}
	shares := rulesOf{shared: []string{host, "*.example.com", "*.com", ""}}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			mine := stakeIn("one", "a")
			for _, pair := range [][2]Claim{{test.a, test.b}, {test.b, test.a}} {
				for _, check := range []struct {
					other *stake
					rules Rules
					want  bool
				}{{stakeIn("two", "b"), Free{}, test.apart}, {stakeIn("two", "b"), shares, test.shared}, {stakeIn("one", "b"), Free{}, test.beside}} {
					check.other.claims = []Claim{pair[1]}
					if got := mine.against(pair[0], check.other, check.rules); got != check.want {
						t.Errorf("%s and %s: got %t, want %t", pair[0], pair[1], got, check.want)
					}
				}
			}
		})
	}
}

// One of two that shares a host is not enough.
func TestAHostIsSharedByBoth(t *testing.T) {
	mine, theirs := stakeIn("one", "a"), stakeIn("two", "b")
	a, b := claim(shop, Prefix, "/a"), claim("*.example.com", Prefix, "/b")
	mine.claims, theirs.claims = []Claim{a}, []Claim{b}
	for _, shared := range [][]string{{shop}, {"*.example.com"}} {
		if rules := (rulesOf{shared: shared}); !mine.against(a, theirs, rules) || !theirs.against(b, mine, rules) {
			t.Errorf("%s is enough", shared)
		}
	}
}

func stakeIn(namespace, name string) *stake {
	return &stake{owner: owner{appService.GroupKind(), named(namespace, name)}, place: place{kube.Key{Name: name}, namespace}}
}

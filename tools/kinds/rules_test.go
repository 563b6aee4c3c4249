package kinds

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// ruleOf is as in "apps deployments get,list a,b": groups, resources, verbs and names. The core group is "core".
func ruleOf(text string) rbacv1.PolicyRule {
	words := strings.Fields(text)
	lists := make([][]string, 4)
	for i, word := range words {
		lists[i] = strings.Split(strings.ReplaceAll(word, "core", ""), ",")
	}
	return rbacv1.PolicyRule{APIGroups: lists[0], Resources: lists[1], Verbs: lists[2], ResourceNames: lists[3]}
}

func textOf(rules []rbacv1.PolicyRule) string {
	var out strings.Builder
	for _, rule := range rules {
		out.WriteString(ruleText(rule))
	}
	return out.String()
}

func TestRulesAreMergedWithoutGrantingMore(t *testing.T) {
	for name, test := range map[string]struct{ rules, want []string }{
		"verbs of the same":        {[]string{"apps deployments get", "apps deployments list"}, []string{"apps deployments get,list"}},
		"resources with one verb":  {[]string{"apps a get", "apps b get"}, []string{"apps a,b get"}},
		"groups":                   {[]string{"a x get", "b x get"}, []string{"a,b x get"}},
		"names":                    {[]string{"core x get a", "core x get b"}, []string{"core x get a,b"}},
		"what another covers":      {[]string{"core x get a", "core x get,list"}, []string{"core x get,list"}},
		"two differences":          {[]string{"apps a get", "apps b list"}, []string{"apps a get", "apps b list"}},
		"a name, and another verb": {[]string{"core x list a", "core x get"}, []string{"core x list a", "core x get"}},
		"a wildcard, which is no right that can be held": {[]string{"apps deployments get", "* * *"}, []string{"apps deployments get", "* * *"}},
		"two wildcards":             {[]string{"apps * get", "* * *"}, []string{"* * *"}},
		"what is merged covers one": {[]string{"core x get", "core x,y get,list", "core y get"}, []string{"core x,y get,list"}},
	} {
		t.Run(name, func(t *testing.T) {
			var rules, want []rbacv1.PolicyRule
			for _, text := range test.rules {
				rules = append(rules, ruleOf(text))
			}
			for _, text := range test.want {
				want = append(want, ruleOf(text))
			}
			if got := textOf(mergedRules(rules)); got != textOf(want) {
				t.Errorf("got\n%swant\n%s", got, textOf(want))
			}
		})
	}
}

func TestARuleAsText(t *testing.T) {
	got := ruleText(rbacv1.PolicyRule{APIGroups: []string{"", "apps"}, Resources: []string{"*", "pods/log"}, Verbs: []string{"watch", "get", "bind"},
		ResourceNames: []string{"system:auth-delegator", "true"}})
	const want = `- apiGroups: ["", apps]
  resources: ["*", pods/log]
  resourceNames: ["system:auth-delegator", "true"]
  verbs: [get, watch, bind]
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if got := ruleText(rbacv1.PolicyRule{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}); got != "- nonResourceURLs: [/metrics]\n  verbs: [get]\n" {
		t.Errorf("got\n%s", got)
	}
}

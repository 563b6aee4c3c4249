package policy

import (
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// FactsOf returns the facts about a namespace with these labels, with what a policy allows in it.
func FactsOf(namespace string, labels map[string]string, allowed *Policy) postrender.Facts {
	facts := postrender.FactsOf(labels)
	if rules := allowed.For(namespace, labels); rules != (Rules{}) {
		facts.Policy = rules
	}
	return facts
}

// FactsOf is that of the policy in use. The error says that it chooses namespaces by labels, and those are not known.
func (c *Current) FactsOf(namespace string, labels map[string]string, known bool) (postrender.Facts, error) {
	rules := c.Get()
	if !known && rules.Selects() {
		return postrender.Facts{}, rbac.Unlabeled()
	}
	return FactsOf(namespace, labels, rules), nil
}

package rights

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Roles are the rules of the operator: in the namespaces that it serves, and in all of the cluster.
type Roles struct{ InNamespaces, Everywhere []rbacv1.PolicyRule }

// Missing returns an error for each need that the roles do not meet, in the words of a status.
func (r Roles) Missing(needs ...Need) []error {
	var list []error
	for _, need := range needs {
		rules := r.Everywhere
		if !need.ClusterScoped {
			rules = slices.Concat(r.InNamespaces, r.Everywhere)
		}
		var missing []string
		for _, verb := range need.Verbs {
			if !slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool { return grants(rule, need, verb) }) {
				missing = append(missing, verb)
			}
		}
		if len(missing) > 0 {
			list = append(list, &MissingError{Need: need, Verbs: missing})
		}
	}
	return list
}

func grants(rule rbacv1.PolicyRule, need Need, verb string) bool {
	return len(rule.ResourceNames) == 0 && has(rule.APIGroups, need.Group) && has(rule.Resources, need.Resource) && has(rule.Verbs, verb)
}

func has(list []string, word string) bool {
	return slices.Contains(list, word) || slices.Contains(list, "*")
}

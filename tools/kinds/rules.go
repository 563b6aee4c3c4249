package kinds

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// parts are the lists of a rule of RBAC.
func parts(rule *rbacv1.PolicyRule) []*[]string {
	return []*[]string{&rule.APIGroups, &rule.Resources, &rule.ResourceNames, &rule.NonResourceURLs, &rule.Verbs}
}

// wild reports whether a rule has a wildcard. An account without that wildcard does not have the rule.
func wild(rule rbacv1.PolicyRule) bool {
	return slices.ContainsFunc(parts(&rule), func(list *[]string) bool { return slices.Contains(*list, "*") })
}

// covers reports whether rules grant all that another one does.
func covers(rule rbacv1.PolicyRule, all ...rbacv1.PolicyRule) bool {
	covered, _ := validation.Covers(all, []rbacv1.PolicyRule{rule})
	return covered
}

// mergedRules returns rules that grant the same, fewer ones: those that differ in one list are one. Rules that only a
// wildcard covers stay, because an account can have them without it.
func mergedRules(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for _, rule := range rules {
		rule = *rule.DeepCopy()
		for _, list := range parts(&rule) {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
		out = append(out, rule)
	}
	for i := 0; i < len(out); i++ {
		for j := 0; j < len(out); j++ {
			if i != j && wild(out[i]) == wild(out[j]) && (covers(out[j], out[i]) || join(&out[i], out[j])) {
				out = slices.Delete(out, j, j+1)
				i = -1 // what is wider now may cover others
				break
			}
		}
	}
	return out
}

// join adds another rule to one from which it differs in at most one list. A list of names is left alone if one rule
// has none, which is all.
func join(rule *rbacv1.PolicyRule, other rbacv1.PolicyRule) bool {
	var differs, by *[]string
	for i, list := range parts(rule) {
		if further := parts(&other)[i]; !slices.Equal(*list, *further) {
			if differs != nil || len(*list) == 0 || len(*further) == 0 {
				return false
			}
			differs, by = list, further
		}
	}
	if differs != nil {
		*differs = append(*differs, *by...)
		slices.Sort(*differs)
		*differs = slices.Compact(*differs)
	}
	return true
}

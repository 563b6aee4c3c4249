package admission

import (
	"fmt"
	"strings"
	"testing"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// A write that costs more than a policy may is refused for all users, whatever their rights. So the most expensive writes have to fit: names
// of the greatest length, all of them new, as many others before, and each one checked alone.
func TestTheMostExpensiveWritesFit(t *testing.T) {
	long := func(prefix string, i int) string { return fmt.Sprintf("%s%0*d", prefix, 253-len(prefix), i) }
	policies := Policies()
	byName := func(a authorizer.Attributes) bool { return a.GetName() != "" }
	partly := func(i int) string {
		if i < 50 {
			return long("n", i%asked)
		}
		return long("o", i)
	}
	const (
		variable = "{name: A%[1]d, valueFrom: {secretKeyRef: {name: %[2]s}}}"
		volumes  = "{podTemplate: {spec: {volumes: %s}}}"
	)
	// Each has as many entries as are compared, in the lists that are read by the most expressions, or lie deepest: so
	// many lists, each of which counts as an entry of the list that it is in.
	for what, shape := range map[string]struct {
		around, list, entry string
		lists               int
	}{
		"variables":             {"{envs: %s}", "%s", variable, 1},
		"variables of sidecars": {"{sidecars: [%s]}", "{env: %s}", variable, 16},
		"variables of a patch":  {"{podTemplate: {spec: {containers: [%s]}}}", "{env: %s}", variable, 2},
		"volumes of a patch":    {volumes, "%s", "{name: v%[1]d, secret: {secretName: %[2]s}}", 1},
		"volumes of a patch for drivers": {
			volumes, "%s", "{name: v%[1]d, csi: {nodePublishSecretRef: {name: %[2]s}}}", 1,
		},
		"projected sources of a patch": {
			"{podTemplate: {spec: {volumes: [{projected: {sources: %s}}]}}}", "%s", "{secret: {name: %[2]s}}", 1,
		},
		"lists in a patch":  {"{podTemplate: {spec: {volumes: [%s]}}}", "%s", "[[], {}, %[1]d, %[2]q, []]", 1},
		"certificates":      {"{ingress: {annotations: {cert-manager.io/issuer: a}, tls: %s}}", "%s", "{secretName: %[2]s}", 1},
		"claims of a patch": {volumes, "%s", "{name: v%[1]d, persistentVolumeClaim: {claimName: %[2]s}}", 1},
	} {
		spec := func(count int, name func(int) string) string {
			each := count / shape.lists
			if strings.Contains(shape.around, "[") {
				each--
			}
			var lists []string
			for l := range shape.lists {
				var entries []string
				for i := range each {
					entries = append(entries, fmt.Sprintf(shape.entry, i, name(l*each+i)))
				}
				lists = append(lists, fmt.Sprintf(shape.list, "["+strings.Join(entries, ", ")+"]"))
			}
			return fmt.Sprintf(shape.around, strings.Join(lists, ", "))
		}
		for when, w := range map[string]Write{
			"new": {Now: spec(50, func(i int) string { return long("n", i%asked) }), May: byName},
			"beside as many others": {
				Before: spec(256, func(i int) string { return long("o", i) }),
				Now:    spec(256, partly), May: byName,
			},
			"all different": {
				Before: spec(256, func(i int) string { return long("o", i) }),
				Now:    spec(256, func(i int) string { return long("n", i) }), May: everybody,
			},
			"as before": {
				Before: "{extra: 1, " + spec(256, func(i int) string { return long("o", i) })[1:],
				Now:    spec(256, func(i int) string { return long("o", i) }), May: nobody,
			},
			"as before, in another order": {
				Before: spec(256, func(i int) string { return long("o", i) }),
				Now:    spec(256, func(i int) string { return long("o", i^1) }), May: byName,
			},
			"far too many": {Now: spec(2*256, func(i int) string { return long("n", i) }), May: everybody},
		} {
			t.Run(what+"/"+when, func(t *testing.T) {
				w.Kind = "AppService"
				if said := Refusals(policies, w); len(said) > 0 {
					t.Errorf("it is refused: %s", said)
				}
				for _, p := range policies {
					conditions, all := p.cost(w)
					if all > celconfig.RuntimeCELCostBudget*9/10 || conditions > celconfig.RuntimeCELCostBudgetMatchConditions/2 {
						t.Errorf("%s costs %d of %d, its conditions %d", p.Name, all, celconfig.RuntimeCELCostBudget, conditions)
					}
					t.Logf("%s costs %d, its conditions %d", p.Name, all, conditions)
				}
			})
		}
	}
}

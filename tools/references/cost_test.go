package references

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// A write that costs more than a policy may is refused for all users, whatever their rights. So the most expensive writes have to fit: names
// of the greatest length, all of them new, as many others before, and each one checked by itself.
func TestTheMostExpensiveWritesFit(t *testing.T) {
	long := func(prefix string, i int) string { return fmt.Sprintf("%s%0*d", prefix, 253-len(prefix), i) }
	list := guards(t, "appservice.yaml")
	byName := func(a authorizer.Attributes) bool { return a.GetName() != "" }
	partly := func(i int) string {
		if i < maxNew {
			return long("n", i%maxNames)
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
		for when, w := range map[string]write{
			"new": {now: spec(maxNew, func(i int) string { return long("n", i%maxNames) }), may: byName},
			"beside as many others": {
				before: spec(maxEntries, func(i int) string { return long("o", i) }),
				now:    spec(maxEntries, partly), may: byName,
			},
			"all different": {
				before: spec(maxEntries, func(i int) string { return long("o", i) }),
				now:    spec(maxEntries, func(i int) string { return long("n", i) }), may: everybody,
			},
			"as before": {
				before: "{extra: 1, " + spec(maxEntries, func(i int) string { return long("o", i) })[1:],
				now:    spec(maxEntries, func(i int) string { return long("o", i) }), may: nobody,
			},
			"as before, in another order": {
				before: spec(maxEntries, func(i int) string { return long("o", i) }),
				now:    spec(maxEntries, func(i int) string { return long("o", i^1) }), may: byName,
			},
			"far too many": {now: spec(2*maxEntries, func(i int) string { return long("n", i) }), may: everybody},
		} {
			t.Run(what+"/"+when, func(t *testing.T) {
				if said := refused(t, list, w); said != "" {
					t.Errorf("it is refused: %s", said)
				}
				w.kind, w.plural = "AppService", "appservices"
				for _, g := range list {
					conditions, all := g.cost(t, w)
					if all > celconfig.RuntimeCELCostBudget*9/10 || conditions > celconfig.RuntimeCELCostBudgetMatchConditions/2 {
						t.Errorf("%s costs %d of %d, its conditions %d", g.Name, all, celconfig.RuntimeCELCostBudget, conditions)
					}
					t.Logf("%s costs %d, its conditions %d", g.Name, all, conditions)
				}
			})
		}
	}
}

// namedByType are the types of Kubernetes' whose fields name an object, and these fields.
var namedByType = map[reflect.Type]string{
	reflect.TypeFor[corev1.SecretKeySelector]():                 "name",
	reflect.TypeFor[corev1.SecretEnvSource]():                   "name",
	reflect.TypeFor[corev1.SecretProjection]():                  "name",
	reflect.TypeFor[corev1.SecretVolumeSource]():                "secretName",
	reflect.TypeFor[corev1.ConfigMapKeySelector]():              "name",
	reflect.TypeFor[corev1.ConfigMapEnvSource]():                "name",
	reflect.TypeFor[corev1.ConfigMapProjection]():               "name",
	reflect.TypeFor[corev1.ConfigMapVolumeSource]():             "name",
	reflect.TypeFor[corev1.LocalObjectReference]():              "name",
	reflect.TypeFor[corev1.SecretReference]():                   "name",
	reflect.TypeFor[corev1.AzureFileVolumeSource]():             "secretName",
	reflect.TypeFor[corev1.PersistentVolumeClaimVolumeSource](): "claimName",
	reflect.TypeFor[corev1.TypedLocalObjectReference]():         "name",
	reflect.TypeFor[corev1.TypedObjectReference]():              "name",
	reflect.TypeFor[corev1.PersistentVolumeClaimSpec]():         "volumeName",
}

// namedByField are the fields, in Go, that are the name of an object themselves.
var namedByField = []string{"ServiceAccountName", "DeprecatedServiceAccount", "ResourceClaimName", "ResourceClaimTemplateName"}

// The names of fields say what they refer to: of a pod, they say it of the same fields as their types.
func TestNamesOfFieldsSayWhatTheirTypesSay(t *testing.T) {
	var want, got []string
	var visit func(at string, in reflect.Type)
	visit = func(at string, in reflect.Type) {
		in = deref(in)
		for in.Kind() == reflect.Slice {
			at, in = at+"[]", deref(in.Elem())
		}
		if name := namedByType[in]; name != "" {
			want = append(want, at+"."+name)
		}
		if in.Kind() != reflect.Struct || !strings.HasPrefix(in.PkgPath(), "k8s.io/api/") {
			return
		}
		for i := range in.NumField() {
			name, _, _ := strings.Cut(in.Field(i).Tag.Get("json"), ",")
			switch {
			case in.Field(i).Anonymous && namedByType[deref(in.Field(i).Type)] == "":
				visit(at, in.Field(i).Type)
			case slices.Contains(namedByField, in.Field(i).Name):
				want = append(want, at+"."+name)
			case name != "" && name != "ephemeralContainers":
				visit(at+"."+name, in.Field(i).Type)
			}
		}
	}
	visit("spec", podSpec)
	path{{name: "spec", fields: fieldsOf(podSpec)}}.walk(func(p path) {
		if len(p.refersTo()) > 0 {
			got = append(got, p.String())
		}
	})
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("types say %v\nnames say %v", want, got)
	}
}

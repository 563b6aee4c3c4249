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
	entries := func(count int, entry func(i int) string) string {
		var list []string
		for i := range count {
			list = append(list, entry(i))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	// Each has as many entries as are compared, in the lists that are read by the most expressions, or lie deepest.
	shapes := map[string]func(count int, name func(int) string) string{
		"variables": func(count int, name func(int) string) string {
			return "{envs: " + entries(count, func(i int) string {
				return fmt.Sprintf("{name: A%d, valueFrom: {secretKeyRef: {name: %s}}}", i, name(i))
			}) + "}"
		},
		"variables of sidecars": func(count int, name func(int) string) string {
			return "{sidecars: " + entries(16, func(s int) string {
				return "{env: " + entries(count/16-1, func(i int) string {
					return fmt.Sprintf("{name: A%d, valueFrom: {secretKeyRef: {name: %s}}}", i, name(s*(count/16-1)+i))
				}) + "}"
			}) + "}"
		},
		"variables of a patch": func(count int, name func(int) string) string {
			return "{podTemplate: {spec: {containers: " + entries(2, func(c int) string {
				return "{env: " + entries(count/2-1, func(i int) string {
					return fmt.Sprintf("{name: A%d, valueFrom: {secretKeyRef: {name: %s}}}", i, name(c*(count/2-1)+i))
				}) + "}"
			}) + "}}}"
		},
		"volumes of a patch": func(count int, name func(int) string) string {
			return "{podTemplate: {spec: {volumes: " + entries(count, func(i int) string {
				return fmt.Sprintf("{name: v%d, secret: {secretName: %s}}", i, name(i))
			}) + "}}}"
		},
		"volumes of a patch for drivers": func(count int, name func(int) string) string {
			return "{podTemplate: {spec: {volumes: " + entries(count, func(i int) string {
				return fmt.Sprintf("{name: v%d, csi: {nodePublishSecretRef: {name: %s}}}", i, name(i))
			}) + "}}}"
		},
		"projected sources of a patch": func(count int, name func(int) string) string {
			return "{podTemplate: {spec: {volumes: [{projected: {sources: " + entries(count-2, func(i int) string {
				return fmt.Sprintf("{secret: {name: %s}}", name(i))
			}) + "}}]}}}"
		},
		"claims of a patch": func(count int, name func(int) string) string {
			return "{podTemplate: {spec: {volumes: " + entries(count, func(i int) string {
				return fmt.Sprintf("{name: v%d, persistentVolumeClaim: {claimName: %s}}", i, name(i))
			}) + "}}}"
		},
	}
	byName := func(a authorizer.Attributes) bool { return a.GetName() != "" }
	partly := func(i int) string {
		if i < maxNew {
			return long("n", i%maxNames)
		}
		return long("o", i)
	}
	list := guards(t, "appservice.yaml")
	for what, shape := range shapes {
		for when, w := range map[string]write{
			"new": {now: shape(maxNew, func(i int) string { return long("n", i%maxNames) }), may: byName},
			"beside as many others": {
				before: shape(maxEntries, func(i int) string { return long("o", i) }),
				now:    shape(maxEntries, partly), may: byName,
			},
			"all different": {
				before: shape(maxEntries, func(i int) string { return long("o", i) }),
				now:    shape(maxEntries, func(i int) string { return long("n", i) }), may: everybody,
			},
			"as before": {
				before: "{extra: 1, " + shape(maxEntries, func(i int) string { return long("o", i) })[1:],
				now:    shape(maxEntries, func(i int) string { return long("o", i) }), may: nobody,
			},
			"as before, in another order": {
				before: shape(maxEntries, func(i int) string { return long("o", i) }),
				now:    shape(maxEntries, func(i int) string { return long("o", i^1) }), may: byName,
			},
			"far too many": {now: shape(2*maxEntries, func(i int) string { return long("n", i) }), may: everybody},
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

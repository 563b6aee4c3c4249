package release

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

var ingressKind = schema.GroupKind{Group: networkingv1.GroupName, Kind: "Ingress"}

// withChallenges returns a rendered Ingress with the paths that cert-manager added to the live one, where they are: the
// annotation acme.cert-manager.io/http01-edit-in-place asks it to, for as long as a challenge lasts. The API server
// treats the rules of an Ingress as one value, so an apply without these paths would remove them.
func withChallenges(desired *unstructured.Unstructured, live client.Object) *unstructured.Unstructured {
	have, full := kube.Content(live)
	if !full || kube.KeyOf(desired).GroupKind != ingressKind {
		return desired
	}
	out := desired
	for i, rule := range objectsIn(have, "spec", "rules") {
		for j, path := range objectsIn(rule, "http", "paths") {
			if !isChallenge(path) {
				continue
			}
			if out == desired {
				out = desired.DeepCopy()
			}
			rules, host := objectsIn(out.Object, "spec", "rules"), rule["host"]
			at := slices.IndexFunc(rules, func(of map[string]any) bool { return of["host"] == host })
			if at < 0 {
				at = min(i, len(rules))
				rules = slices.Insert(rules, at, map[string]any{"host": host})
			}
			paths := objectsIn(rules[at], "http", "paths")
			setObjects(rules[at], slices.Insert(paths, min(j, len(paths)), path), "http", "paths")
			setObjects(out.Object, rules, "spec", "rules")
		}
	}
	return out
}

// isChallenge reports whether a path of an Ingress is one of cert-manager's, to a Service with a generated name.
func isChallenge(path map[string]any) bool {
	at, _, _ := unstructured.NestedString(path, "path")
	service, _, _ := unstructured.NestedString(path, "backend", "service", "name")
	return strings.HasPrefix(at, "/.well-known/acme-challenge/") && strings.HasPrefix(service, "cm-acme-http-solver-")
}

// objectsIn returns the objects of a list.
func objectsIn(object map[string]any, fields ...string) []map[string]any {
	found, _, _ := unstructured.NestedFieldNoCopy(object, fields...)
	list, _ := found.([]any)
	var out []map[string]any
	for _, item := range list {
		content, _ := item.(map[string]any)
		out = append(out, content)
	}
	return out
}

func setObjects(object map[string]any, items []map[string]any, fields ...string) {
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = item
	}
	_ = unstructured.SetNestedField(object, list, fields...) // copies
}

package plan

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

var ingressKind = schema.GroupKind{Group: networkingv1.GroupName, Kind: "Ingress"}

// withInvited returns a rendered object with additions of other controllers to the live one, for which its annotations
// ask, in fields that would be restored otherwise.
func withInvited(desired *unstructured.Unstructured, live client.Object) *unstructured.Unstructured {
	have, full := kube.Content(live)
	exclusive := kube.TraitsOf(kube.KeyOf(desired).GroupKind).Exclusive
	switch {
	case !full:
		return desired
	case kube.KeyOf(desired).GroupKind == ingressKind:
		if desired.GetAnnotations()["acme.cert-manager.io/http01-edit-in-place"] == "true" {
			return withChallenges(desired, have)
		}
	case exclusive != nil:
		return withNotes(desired, have, append(slices.Clone(exclusive), "metadata", "annotations"))
	}
	return desired
}

// withNotes returns a workload with the annotations that a controller added to the pods, if the workload has others of
// that controller: by them, Wave and Reloader restart pods.
func withNotes(desired *unstructured.Unstructured, have map[string]any, path []string) *unstructured.Unstructured {
	out := desired
	notes, _, _ := unstructured.NestedMap(have, path...)
	for _, key := range sortedKeys(notes) {
		_, rendered, _ := unstructured.NestedFieldNoCopy(desired.Object, append(slices.Clone(path), key)...)
		if rendered || !invites(desired.GetAnnotations(), key) {
			continue
		}
		if out == desired {
			out = desired.DeepCopy()
		}
		_ = unstructured.SetNestedField(out.Object, notes[key], append(slices.Clone(path), key)...)
	}
	return out
}

// invites reports whether annotations have one of the same domain as a key, or of one below it. Those of the operator
// and of Kubernetes are no requests to others.
func invites(annotations map[string]string, key string) bool {
	domain, _, found := strings.Cut(key, "/")
	if !found || domain == v1.GroupVersion.Group {
		return false
	}
	for other := range annotations {
		of, _, _ := strings.Cut(other, "/")
		ours := of == v1.GroupVersion.Group || strings.HasSuffix("."+of, ".kubernetes.io")
		if !ours && strings.HasSuffix("."+of, "."+domain) {
			return true
		}
	}
	return false
}

// withChallenges returns a rendered Ingress with the paths that cert-manager added to the live one, where they are: the
// annotation acme.cert-manager.io/http01-edit-in-place asks it to, for as long as a challenge lasts. The API server
// treats the rules of an Ingress as one value, so an apply without these paths would remove them.
func withChallenges(desired *unstructured.Unstructured, have map[string]any) *unstructured.Unstructured {
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

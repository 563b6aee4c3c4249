package plan

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
)

// Unfilled returns the first field of a live Secret that the operator has yet to fill; empty if there is none.
func Unfilled(desired *unstructured.Unstructured, live client.Object) string {
	wanted := generate.Of(desired)
	if wanted.None() {
		return ""
	}
	var data map[string]any
	if content, full := kube.Content(live); full {
		if data, _, _ = unstructured.NestedMap(content, "data"); data == nil {
			data = map[string]any{}
		}
	}
	return wanted.Lacks(generate.NoteOf(live), data)
}

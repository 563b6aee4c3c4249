package lint

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/render"
)

// Example returns a case with only the fields that the definition of its kind requires. The spec is empty without a
// definition.
func Example(kind schema.GroupVersionKind, d *crd.Definition) Case {
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	resource.SetGroupVersionKind(kind)
	resource.SetName("example")
	resource.SetNamespace("default")
	resource.SetUID(render.PlaceholderUID)
	if d != nil {
		if spec, is := d.Example("spec").(map[string]any); is {
			resource.Object["spec"] = spec
		}
	}
	return Case{"example", resource}
}

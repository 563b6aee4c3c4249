package plan

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Replacement returns the JSON patch that changes an object to what it becomes: rendered fields over those of others,
// and nothing of others in the fields that belong to the operator as a whole, which an apply alone would leave mixed.
func Replacement(desired, live *unstructured.Unstructured, version string, exclusive []string) ([]byte, error) {
	merged, _, _ := unstructured.NestedMap(live.Object, "spec")
	rendered, _, _ := unstructured.NestedMap(desired.Object, "spec")
	annotations, _, _ := unstructured.NestedStringMap(live.Object,
		append(slices.Clone(exclusive), "metadata", "annotations")...)
	unstructured.RemoveNestedField(merged, exclusive[1:]...)
	for name, value := range annotations {
		at := append(slices.Clone(exclusive[1:]), "metadata", "annotations", name)
		if kube.IsRestart(name, value) && unstructured.SetNestedField(merged, value, at...) != nil {
			break // there is no such part
		}
	}
	lay(merged, rendered)
	metadata, _, _ := unstructured.NestedMap(live.Object, "metadata")
	ours, _, _ := unstructured.NestedMap(desired.Object, "metadata")
	lay(metadata, ours)
	return json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": live.GetUID()},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": version},
		{"op": "add", "path": "/metadata/labels", "value": metadata["labels"]},
		{"op": "add", "path": "/metadata/annotations", "value": metadata["annotations"]},
		{"op": "add", "path": "/metadata/ownerReferences", "value": metadata["ownerReferences"]},
		{"op": "replace", "path": "/spec", "value": merged},
	})
}

// lay merges rendered fields over others as a forced apply does.
func lay(over, rendered map[string]any) {
	for key, value := range rendered {
		fields, is := value.(map[string]any)
		beneath, both := over[key].(map[string]any)
		if is && both && !atomicMaps[key] {
			lay(beneath, fields)
			continue
		}
		over[key] = value
	}
}

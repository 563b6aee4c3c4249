package release

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// tried returns the result of a change, by a dry run.
func (a *applier) tried(ctx context.Context, change Change) (*unstructured.Unstructured, error) {
	traits := kube.TraitsOf(kube.KeyOf(change.Desired).GroupKind)
	if traits.Whole == nil {
		return a.apply(ctx, change, client.DryRunAll)
	}
	live, _ := change.Live.(*unstructured.Unstructured)
	after := identity(live)
	err := a.versioned(ctx, live, func(version string) error {
		body, err := replacement(change.Desired, live, version, traits.Whole)
		if err != nil {
			return err
		}
		return a.session.Try(ctx, after, client.RawPatch(types.JSONPatchType, body), client.FieldOwner(FieldManager))
	})
	if err != nil {
		return nil, a.explain(ctx, change, fmt.Errorf("%s: %w", kube.KeyOf(change.Desired), err))
	}
	return after, nil
}

// replacement returns the JSON patch that changes an object to what it becomes: rendered fields over those of others,
// and nothing of others in the fields that belong to the operator as a whole, which an apply alone would leave mixed.
func replacement(desired, live *unstructured.Unstructured, version string, whole []string) ([]byte, error) {
	merged, _, _ := unstructured.NestedMap(live.Object, "spec")
	rendered, _, _ := unstructured.NestedMap(desired.Object, "spec")
	annotations, _, _ := unstructured.NestedStringMap(live.Object,
		append(slices.Clone(whole), "metadata", "annotations")...)
	unstructured.RemoveNestedField(merged, whole[1:]...)
	for name, value := range annotations {
		at := append(slices.Clone(whole[1:]), "metadata", "annotations", name)
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
		beneath, there := over[key].(map[string]any)
		if is && there && !atomicMaps[key] {
			lay(beneath, fields)
			continue
		}
		over[key] = value
	}
}

// ends lists the fields that would change in the pods of a workload, and how many pods would be removed.
func ends(change Change, after *unstructured.Unstructured) (list []string) {
	path := templateOfRunning(change.Desired)
	if path == nil {
		return nil
	}
	live, _ := change.Live.(*unstructured.Unstructured)
	key := kube.KeyOf(live)
	for _, difference := range Differences(only(live, path), only(after, path)) {
		text, _, _ := strings.Cut(difference.Redacted().String(), ";")
		list = append(list, fmt.Sprintf("%s: its pods would restart: %s", key, text))
	}
	have, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if want, rendered, _ := unstructured.NestedInt64(change.Desired.Object, "spec", "replicas"); rendered && want < have {
		list = append(list, fmt.Sprintf("%s: %d of its pods would end: spec.replicas %d → %d", key, have-want, have, want))
	}
	return list
}

// only returns an object that has only the value at a path.
func only(object *unstructured.Unstructured, path []string) *unstructured.Unstructured {
	out := identity(object)
	if value, found, _ := unstructured.NestedFieldCopy(object.Object, path...); found {
		_ = unstructured.SetNestedField(out.Object, value, path...) // out has nothing else
	}
	return out
}

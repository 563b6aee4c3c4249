package release

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// evict removes what others added to a pod template, and returns the object as it is then: written if nothing had to be removed. The
// operator takes over the fields, so that its next apply, which does not have them, removes them. The pod template is owned as a whole:
// after an undone rollout, a mixture of two versions would run.
func (a *applier) evict(ctx context.Context, change Change, written *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	fields := kube.Evict(written)
	if fields == nil {
		return written, nil
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": fields},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": written.GetResourceVersion()},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(written), err)
	}
	owned := written.DeepCopy()
	if err := a.session.Patch(ctx, owned, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldManager)); err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(written), err)
	}
	return a.apply(ctx, Change{Desired: change.Desired, Live: owned})
}

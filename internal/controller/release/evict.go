package release

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/render/hooks"
)

// evict removes what others added to fields that belong to the operator as a whole, and returns the resulting object:
// written, with all its managed fields, if nothing had to be removed. The operator takes over the added fields, so that
// its next apply, which does not have them, removes them. Otherwise a mixture of two pod templates would run after an
// undone rollout.
func (a *applier) evict(ctx context.Context, change Change,
	written *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for attempt := 1; ; attempt++ {
		patch, err := eviction(written)
		if patch == nil || err != nil {
			return written, err
		}
		owned := written.DeepCopy()
		err = a.session.Patch(ctx, owned, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldManager))
		if err == nil {
			return a.apply(ctx, Change{Desired: change.Desired, Live: owned})
		}
		lost := fmt.Errorf("%s: %w", kube.KeyOf(written), err)
		if !apierrors.IsConflict(err) || attempt == statusRaces || a.newStatus(ctx, written) == "" {
			return nil, lost
		}
		if owned = identity(written); a.live.Get(ctx, client.ObjectKeyFromObject(owned), owned) != nil ||
			owned.GetUID() != written.GetUID() {
			return nil, lost
		}
		written = owned // controllers of pods write the status as soon as it is applied
	}
}

// eviction returns the JSON patch by which the operator takes over what others added; nil if there is nothing. It
// removes the stamp: if the apply that removes the fields never follows, the missing stamp shows that it is still due.
func eviction(written *unstructured.Unstructured) ([]byte, error) {
	fields := kube.Evict(written)
	if fields == nil {
		return nil, nil
	}
	changes := []map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": fields},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": written.GetResourceVersion()},
	}
	if stampOf(written) != "" {
		changes = append(changes, map[string]any{"op": "remove",
			"path": "/metadata/annotations/" + strings.ReplaceAll(hooks.AnnotationStamp, "/", "~1")})
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(written), err)
	}
	return patch, nil
}

// evictFirst removes what others added if that is why the API server refuses an apply: two ports of one name, for
// example.
func (a *applier) evictFirst(ctx context.Context, change Change, refusal error) (*unstructured.Unstructured, error) {
	if change.Live == nil || !apierrors.IsInvalid(refusal) || len(kube.Intruders(change.Live)) == 0 {
		return nil, refusal
	}
	live := identity(change.Live)
	if err := a.live.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil ||
		live.GetUID() != change.Live.GetUID() {
		return nil, refusal
	}
	written, err := a.evict(ctx, change, live)
	if err != nil || written == live {
		return nil, refusal
	}
	return written, nil
}

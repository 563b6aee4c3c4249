package release

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// evict makes the operator the owner of all fields that belong to it as a whole, whoever added them, and returns the
// object: the next apply removes what is not rendered. Otherwise a mixture of two pod templates would run after an
// undone rollout. Fields that admission added return with that apply.
func (a *applier) evict(ctx context.Context, change plan.Change) (*unstructured.Unstructured, error) {
	for attempt := 1; ; attempt++ {
		live := identity(change.Live)
		err := a.live.Get(ctx, client.ObjectKeyFromObject(live), live)
		switch {
		case apierrors.IsNotFound(err), err == nil && !sameContent(change.Live, live):
			return nil, &StaleError{errors.New(kube.KeyOf(change.Desired).String() + " has changed")}
		case err != nil:
			return nil, fmt.Errorf("cannot read %s: %w", kube.KeyOf(change.Desired), err)
		}
		patch, err := plan.Eviction(live, plan.StampOf(change.Desired))
		if err != nil {
			return nil, err
		}
		err = a.session.Patch(ctx, live, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldManager))
		if err == nil {
			return live, nil
		}
		if !apierrors.IsConflict(err) || attempt == statusRaces { // controllers of pods write the status often
			return nil, fmt.Errorf("%s: %w", kube.KeyOf(live), err)
		}
	}
}

// sameContent reports whether an object has the content that was compared, ignoring its status.
func sameContent(compared client.Object, live *unstructured.Unstructured) bool {
	return compared.GetUID() == live.GetUID() && compared.GetResourceVersion() == live.GetResourceVersion() ||
		kube.SameGeneration(compared, live)
}

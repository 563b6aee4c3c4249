package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
)

// observe returns the objects that exist for a resource after they were written. The error is a StaleError if the
// release record was deleted since the state before was observed.
func (r *Reconciler) observe(ctx context.Context, s *scope, wanted rendering,
	before *livestate.Snapshot) (*livestate.Snapshot, error) {
	observed, err := r.Observer.Snapshot(ctx, s.resource, nil)
	switch {
	case err != nil:
		return nil, err
	case before.Record != nil && observed.Record == nil:
		return nil, &release.StaleError{Err: errors.New("the release record is gone")}
	}
	return observed, r.complete(ctx, s, observed, wanted.keys())
}

// complete reads content that the caches do not hold, of rendered or recorded objects only: anyone can create a large
// object that appears to be the resource's.
func (r *Reconciler) complete(ctx context.Context, s *scope, observed *livestate.Snapshot, keys []kube.Key) error {
	return r.Observer.Complete(ctx, observed, func(outline client.Object) bool {
		return slices.Contains(keys, kube.KeyOf(outline)) && !s.memory.verified.Knows(outline)
	})
}

// alive checks with the API server that the resource still exists before anything is created again for it. When the
// garbage collector deletes the objects of a resource, informers may show that before they show that the resource is
// gone.
func (r *Reconciler) alive(ctx context.Context, s *scope) error {
	live := kube.Metadata(r.Kind)
	err := r.Live.Get(ctx, s.name(), live)
	switch {
	case apierrors.IsNotFound(err), err == nil && (live.UID != s.resource.GetUID() || live.DeletionTimestamp != nil):
		return &release.StaleError{Err: errors.New("the resource is gone")}
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", r.Kind.Kind, err)
	}
	return nil
}

// gateways returns the facts about the Gateways that routes attach to. Live routes count: they serve even while a
// spec is refused.
func (r *Reconciler) gateways(ctx context.Context, observed *livestate.Snapshot) gateway.Gateways {
	var names []types.NamespacedName
	for _, object := range observed.Objects {
		if route := gateway.RouteOf(object); route != nil {
			names = append(names, route.Gateways()...)
		}
	}
	return r.References.Gateways(ctx, names)
}

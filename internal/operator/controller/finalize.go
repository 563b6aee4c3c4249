package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/operator/metrics"
)

// ensureFinalizer adds the finalizer that cluster-scoped objects need: the garbage collector does not delete them with
// a resource that lives in a namespace. Resources without such objects, AppServices among them, get none.
func (r *Reconciler) ensureFinalizer(ctx context.Context, s *scope, wanted rendering) error {
	if !wanted.outline.ClusterScoped || controllerutil.ContainsFinalizer(s.resource, v1.Finalizer) {
		return nil
	}
	held := s.resource.DeepCopy()
	controllerutil.AddFinalizer(held, v1.Finalizer)
	return r.patchFinalizers(ctx, s, held)
}

// reconcileDelete deletes the cluster-scoped objects of a resource that is being deleted, and removes the finalizer
// when none is left.
func (r *Reconciler) reconcileDelete(ctx context.Context, s *scope) (metrics.Outcome, reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(s.resource, v1.Finalizer) {
		return metrics.Gone, reconcile.Result{}, nil
	}
	_, observed, _, err := r.view(ctx, s)
	if err != nil {
		return metrics.Gone, reconcile.Result{}, err
	}
	for _, unseen := range observed.Unseen {
		if unseen.ClusterScoped { // objects of that kind may exist
			return metrics.Gone, reconcile.Result{}, unseen.Err
		}
	}
	left := &plan.Plan{}
	going := false
	for _, object := range observed.Objects {
		if object.GetNamespace() != "" {
			continue
		}
		going = true
		if object.GetDeletionTimestamp() == nil {
			left.Delete = append(left.Delete, object)
		}
	}
	switch {
	case !left.Empty():
		if err := r.Actor.Delete(ctx, s.resource, left); err != nil {
			return metrics.Gone, reconcile.Result{}, fmt.Errorf("cannot delete the rendered objects: %w", err)
		}
		return metrics.Gone, requeueAfter(staleRetry), nil
	case going:
		// unless the deletion of one is seen before
		return metrics.Gone, requeueAfter(s.memory.backoff.Again(r.Clock.Now(), s.version(), true)), nil
	}
	released := s.resource.DeepCopy()
	controllerutil.RemoveFinalizer(released, v1.Finalizer)
	return metrics.Gone, reconcile.Result{}, client.IgnoreNotFound(r.patchFinalizers(ctx, s, released))
}

// patchFinalizers writes the finalizers of a resource, unless another writer has changed it meanwhile.
func (r *Reconciler) patchFinalizers(ctx context.Context, s *scope, changed client.Object) error {
	patch := client.MergeFromWithOptions(s.resource.DeepCopy(), client.MergeFromWithOptimisticLock{})
	return r.Client.Patch(ctx, changed, patch, client.FieldOwner(release.FieldManager))
}

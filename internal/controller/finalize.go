package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/release"
)

// hold gives a resource the finalizer that cluster-scoped objects need: the garbage collector does not delete them with a
// resource that lives in a namespace. Resources without such objects, AppServices among them, get none.
func (r *Reconciler) hold(ctx context.Context, p *pass) error {
	if !p.outline.ClusterScoped || controllerutil.ContainsFinalizer(p.resource, v1.Finalizer) {
		return nil
	}
	held := p.resource.DeepCopy()
	controllerutil.AddFinalizer(held, v1.Finalizer)
	return r.patchFinalizers(ctx, p, held)
}

// letGo deletes the cluster-scoped objects of a resource that is going, and takes the finalizer off when none is left.
func (r *Reconciler) letGo(ctx context.Context, p *pass) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(p.resource, v1.Finalizer) {
		return reconcile.Result{}, nil
	}
	_ = r.render(ctx, p) // so that kinds which only a render tells are looked at, too
	if err := r.observe(ctx, p); err != nil {
		return reconcile.Result{}, err
	}
	for _, unseen := range p.snapshot.Unseen {
		if unseen.ClusterScoped { // there may be objects of it
			return reconcile.Result{}, unseen.Err
		}
	}
	left := &release.Plan{}
	going := false
	for _, object := range p.snapshot.Objects {
		if object.GetNamespace() != "" {
			continue
		}
		going = true
		if object.GetDeletionTimestamp() == nil {
			left.Delete = append(left.Delete, object)
		}
	}
	if !left.Empty() {
		if err := r.Actor.Delete(ctx, p.resource, left); err != nil {
			return reconcile.Result{}, fmt.Errorf("cannot delete what was rendered: %w", err)
		}
		return reconcile.Result{RequeueAfter: staleRetry}, nil
	}
	if going {
		return reconcile.Result{RequeueAfter: previousRetry}, nil
	}
	released := p.resource.DeepCopy()
	controllerutil.RemoveFinalizer(released, v1.Finalizer)
	return reconcile.Result{}, client.IgnoreNotFound(r.patchFinalizers(ctx, p, released))
}

// patchFinalizers writes the finalizers of a resource, unless somebody else changed it meanwhile.
func (r *Reconciler) patchFinalizers(ctx context.Context, p *pass, changed client.Object) error {
	patch := client.MergeFromWithOptions(p.resource.DeepCopy(), client.MergeFromWithOptimisticLock{})
	return r.Client.Patch(ctx, changed, patch, client.FieldOwner(release.FieldManager))
}

package controller

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/rollout"
	"github.com/example/appservice-operator/internal/operator/status"
)

// read returns the scope of a reconcile; nil if the resource is gone: the garbage collector deletes the objects that it
// controlled.
func (r *Reconciler) read(ctx context.Context, request reconcile.Request) (*scope, error) {
	resource := kube.Object(r.Kind)
	err := r.Client.Get(ctx, request.NamespacedName, resource)
	switch {
	case apierrors.IsNotFound(err):
		r.forget(request.NamespacedName)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", r.Kind.Kind, err)
	}
	if known := r.memory.of(request.NamespacedName); known != nil && known.uid != resource.GetUID() {
		r.forget(request.NamespacedName) // it was created again under the same name
	}
	resource, size, oversize := kube.Expand(r.Status.Newest(resource))
	if resource == nil {
		return nil, oversize
	}
	previous, err := status.Of(resource)
	if err != nil {
		return nil, err
	}
	s := &scope{
		resource:   resource,
		previous:   previous,
		renderer:   r.Charts.Get(),
		paused:     r.pausedBy(resource),
		size:       size,
		unreadable: oversize,
		memory:     r.memory.remember(request.NamespacedName, resource.GetUID()),
	}
	if r.Defaults != nil {
		s.defaults, err = r.Defaults.Of(ctx, request.Namespace)
		s.unreadable = cmp.Or(s.unreadable, err)
	}
	s.basis = rollout.Basis{Chart: chartOf(s.renderer), Defaults: rollout.Defaults{Digest: s.defaults.Digest}}
	return s, nil
}

// forget drops everything that the process knows about a resource that is gone.
func (r *Reconciler) forget(name types.NamespacedName) {
	r.References.Forget(name)
	r.Hosts.Gone(r.Kind.GroupKind(), name)
	r.Status.Forget(name)
	r.Rollouts.Forget(name)
	if known := r.memory.forget(name); known != nil {
		r.Observer.Forget(known.uid)
	}
}

// pausedBy reports whether a resource requests to be left unchanged. For kinds other than AppService, spec belongs to
// the chart.
func (r *Reconciler) pausedBy(resource *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(resource.Object, "spec", "paused")
	return paused && kube.IsAppService(r.Kind)
}

// UIDOf returns the UID of a resource that was reconciled before; empty for any other resource.
func (r *Reconciler) UIDOf(name types.NamespacedName) types.UID { return r.memory.uid(name) }

// Rendering lists the resources that render an object of an API group, including objects that are left out.
func (r *Reconciler) Rendering(group string) []types.NamespacedName { return r.memory.rendering(group) }

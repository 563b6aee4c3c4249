package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/defaults"
	"github.com/example/appservice-operator/internal/fleet"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/status"
)

// scope is what one reconcile is about.
type scope struct {
	resource *unstructured.Unstructured
	previous *v1.AppServiceStatus // status of resource
	paused   bool
	// renderer in use when the reconcile began.
	renderer *render.Renderer
	// defaults of the namespace, and why they cannot be read.
	defaults    defaults.Text
	defaultsErr error
	// asked is all that it renders with besides the spec.
	asked fleet.Asked
	// standing is how the resource stands with what of it is new.
	standing standing
	// size is how many bytes the resource has, and oversize why it is too large to be rendered: then next to nothing is known of its spec.
	size     int
	oversize error
	// undeleted is why the resource could not be deleted, whose time is over.
	undeleted error
	// memory of earlier reconciles, which saves work and decides nothing that could be read from the cluster.
	memory *remembered
}

// standing is how a resource stands with a new chart and with new defaults.
type standing struct{ chart, defaults fleet.Standing }

func (s *scope) name() types.NamespacedName { return client.ObjectKeyFromObject(s.resource) }

// version is what an attempt is about: another spec, another chart, other defaults and another adoption are tried at once, whatever became
// of the ones before.
type version struct {
	generation      int64
	chart, defaults string // digests
	adoption        string
}

func (s *scope) version() version {
	return version{generation: s.resource.GetGeneration(), chart: s.asked.Chart.Digest, defaults: s.asked.Defaults.Digest,
		adoption: release.AdoptionOf(s.resource).String()}
}

// read returns the scope of a reconcile, nil if the resource is gone: the garbage collector deletes what it controlled.
func (r *Reconciler) read(ctx context.Context, request reconcile.Request) (*scope, error) {
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(r.Kind)
	err := r.Client.Get(ctx, request.NamespacedName, resource)
	switch {
	case apierrors.IsNotFound(err):
		r.forget(request.NamespacedName)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", r.Kind.Kind, err)
	}
	if known := r.memory.of(request.NamespacedName); known != nil && known.uid != resource.GetUID() {
		r.forget(request.NamespacedName) // it was made again under its name
	}
	resource, size, oversize := kube.Whole(r.Status.Newest(resource))
	if resource == nil {
		return nil, oversize
	}
	previous, err := status.Of(resource)
	if err != nil {
		return nil, err
	}
	s := &scope{
		resource: resource,
		previous: previous,
		renderer: r.Charts.Get(),
		paused:   r.pausedBy(resource),
		size:     size,
		oversize: oversize,
		memory:   r.memory.remember(request.NamespacedName, resource.GetUID()),
	}
	if r.Defaults != nil {
		s.defaults, s.defaultsErr = r.Defaults.Of(ctx, request.Namespace)
	}
	s.asked = fleet.Asked{Chart: chartOf(s.renderer), Defaults: fleet.Defaults{Digest: s.defaults.Digest}}
	return s, nil
}

// forget drops all that the process knows of a resource that is gone.
func (r *Reconciler) forget(name types.NamespacedName) {
	r.References.Forget(name)
	r.Hosts.Gone(r.Kind.GroupKind(), name)
	r.Status.Forget(name)
	r.Gates.Forget(name)
	r.Rollouts.End(r.candidate(name))
	if known := r.memory.forget(name); known != nil {
		r.Observer.Forget(known.uid)
	}
}

// pausedBy reports whether a resource asks to be left as it is. Of other kinds than AppService, spec belongs to the chart.
func (r *Reconciler) pausedBy(resource *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(resource.Object, "spec", "paused")
	return paused && r.Kind == v1.GroupVersion.WithKind(v1.Kind)
}

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
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/controller/rollout"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/render/defaults"
	"github.com/example/appservice-operator/internal/status"
)

// scope holds the data of one reconcile.
type scope struct {
	resource *unstructured.Unstructured
	previous *v1.AppServiceStatus // status of resource
	paused   bool
	// renderer in use when the reconcile began.
	renderer *render.Renderer
	// defaults of the namespace, and the error if they cannot be read.
	defaults    defaults.Text
	defaultsErr error
	// asked is everything that it renders with besides the spec.
	asked rollout.Asked
	// size is the size of the resource in bytes; oversize says why it is too large to be rendered: then almost nothing is
	// known of its spec.
	size     int
	oversize error
	// undeleted is the error of deleting a resource whose time is over.
	undeleted error
	// lastGood is the release recorded in a Secret, once it was read.
	lastGood   *release.Recorded
	lastGoodOf types.UID
	// disordered is about a list whose order is kept until the next release; nil if there is none.
	disordered error
	// namesake is the kind of a resource with the same name that had it before; empty if there is none.
	namesake string
	// former are the runs of the recorded release that run the rendered spec, and are not noted as that.
	former []v1.RunStatus
	// memory of earlier reconciles, which saves work and decides nothing that could be read from the cluster.
	memory *remembered
}

func (s *scope) name() types.NamespacedName { return client.ObjectKeyFromObject(s.resource) }

// version identifies what an attempt is for: another spec, chart, adoption or other defaults are tried at once, however
// the attempts before ended.
type version struct {
	generation      int64
	chart, defaults string // digests
	adoption        string
	again           string // Secrets that may be filled again
}

func (s *scope) version() version {
	return version{generation: s.resource.GetGeneration(), chart: s.asked.Chart.Digest, defaults: s.asked.Defaults.Digest,
		adoption: release.AdoptionOf(s.resource).String(), again: s.resource.GetAnnotations()[v1.AnnotationGenerateAgain]}
}

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
	s.asked = rollout.Asked{Chart: chartOf(s.renderer), Defaults: rollout.Defaults{Digest: s.defaults.Digest}}
	return s, nil
}

// forget drops everything that the process knows about a resource that is gone.
func (r *Reconciler) forget(name types.NamespacedName) {
	r.References.Forget(name)
	r.Hosts.Gone(r.Kind.GroupKind(), name)
	r.Status.Forget(name)
	r.Rollouts.Forget(name)
	r.Looks.Forget(name)
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

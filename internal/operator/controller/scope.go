package controller

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/operator/rollout"
)

// scope holds the data of one reconcile.
type scope struct {
	resource *unstructured.Unstructured
	previous *v1.AppServiceStatus // status of resource
	paused   bool
	// renderer in use when the reconcile began.
	renderer *render.Renderer
	defaults defaults.Text // of the namespace
	// basis is everything that it renders with besides the spec.
	basis rollout.Basis
	size  int // of the resource in bytes
	// unreadable is the error if the defaults cannot be read, or if the resource is too large to be rendered: then almost
	// nothing is known of its spec.
	unreadable error
	// undeleted is the error of deleting a resource whose time is over.
	undeleted error
	// recorded is the release recorded in a Secret, once it was read.
	recorded *release.Recorded
	// namesake is the kind of a resource with the same name that had it before; empty if there is none.
	namesake string
	// former are runs of the recorded release that already ran the rendered spec, and are missing in status.runs.
	former []v1.RunStatus
	// memory of earlier reconciles, which saves work and decides nothing that could be read from the cluster.
	memory *remembered
}

func (s *scope) name() types.NamespacedName { return client.ObjectKeyFromObject(s.resource) }

func (s *scope) version() version {
	return version{generation: s.resource.GetGeneration(), chart: s.basis.Chart.Digest, defaults: s.basis.Defaults.Digest,
		adoption: release.AdoptionOf(s.resource).String(), again: s.resource.GetAnnotations()[v1.AnnotationGenerateAgain]}
}

// deployed reports whether the current spec was ever deployed. If it was not, its owner is waiting for it, and the
// objects do not match the spec: the resource must neither be held back nor be reported as ready.
func deployed(s *scope) bool {
	condition := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionDeployed)
	return condition != nil && condition.Status == metav1.ConditionTrue &&
		condition.ObservedGeneration == s.resource.GetGeneration()
}

// tried reports whether an attempt has failed before: in this process or, if the spec was refused, in an earlier one.
func tried(s *scope) bool {
	ready := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionReady)
	return s.memory.backoff.Failed() ||
		ready != nil && (ready.Reason == v1.ReasonResourceExists || ready.Reason == v1.ReasonInstallFailed)
}

// reported reports whether a status was ever written. If it was and no objects are left, the resource may be about to
// be deleted, too.
func reported(s *scope) bool { return len(s.previous.Conditions) > 0 }

// begun returns the rollout that has begun for the resource although its user did not ask for it; false if there is
// none.
func (s *scope) begun(record *livestate.Record) (rollout.Rollout, bool) {
	return s.basis.Begun(record, s.resource.GetGeneration())
}

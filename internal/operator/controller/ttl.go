package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status"
)

// expire deletes a resource whose spec.ttl is over, as kubectl delete does, unless it was changed or created again
// since it was read. It returns false if the deletion is refused: the resource is then reconciled as before, and its
// status says why.
func (r *Reconciler) expire(ctx context.Context, s *scope) (next reconcile.Result, gone bool) {
	asRead := client.Preconditions{UID: ptr.To(s.resource.GetUID()),
		ResourceVersion: ptr.To(s.resource.GetResourceVersion())}
	err := r.Client.Delete(ctx, s.resource.DeepCopy(), asRead,
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	switch {
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, true
	case apierrors.IsConflict(err): // its ttl may have been extended
		return requeueAfter(staleRetry), true
	case err != nil:
		log.FromContext(ctx).Error(err, "cannot delete a resource whose spec.ttl expired")
		s.undeleted = err
		return reconcile.Result{}, false
	}
	log.FromContext(ctx).Info("deleted: spec.ttl expired")
	ttl, _, _ := unstructured.NestedString(s.resource.Object, "spec", "ttl")
	r.event(s, corev1.EventTypeNormal, v1.ReasonExpired, fmt.Sprintf("deleted: spec.ttl (%s) expired", ttl))
	return reconcile.Result{}, true
}

// emitExpiry emits an event if a status that was just written has a new expiry warning: the status remembers it over
// restarts.
func (r *Reconciler) emitExpiry(s *scope, current *v1.AppServiceStatus) {
	now := status.Expiry(current)
	if before := status.Expiry(s.previous); now != nil && (before == nil || before.Reason != now.Reason) {
		r.event(s, corev1.EventTypeWarning, now.Reason, now.Message+": "+now.Hint)
	}
}

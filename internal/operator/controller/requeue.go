package controller

import (
	"errors"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/watch"
)

// requeueAfter returns the result that requeues after a duration.
func requeueAfter(wait time.Duration) reconcile.Result { return reconcile.Result{RequeueAfter: wait} }

// requeueLater is requeueAfter at a low priority, for work that nobody waits for: the user's change is done.
func requeueLater(wait time.Duration) reconcile.Result {
	return reconcile.Result{RequeueAfter: wait, Priority: ptr.To(watch.Bookkeeping)}
}

// sooner returns the shorter of two waiting times; 0 stands for none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// mayPass reports whether an error says only that something is not known yet, so that the status may wait: for the
// first answer of the API server about a kind, or for caches that are behind, as long as they are given time.
func (r *Reconciler) mayPass(s *scope, err error) bool {
	return errors.Is(err, kube.ErrUnlisted) || isStale(err) && s.memory.backoff.MayPass(r.Clock.Now())
}

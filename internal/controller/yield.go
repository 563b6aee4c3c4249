package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/release"
)

// yield deletes the routes of a resource whose host belongs to another resource that precedes it, or waits for it. It runs first: a resource
// that is paused, refused or held by a finalizer must not keep a host that is not its own.
func (r *Reconciler) yield(ctx context.Context, s *scope) error {
	r.Hosts.Note(r.Kind.GroupKind(), s.name(), wasEverReady(s.previous))
	routes := r.Hosts.Yields(r.Kind.GroupKind(), s.name())
	if len(routes) == 0 {
		return nil
	}
	there, err := r.observe(ctx, s, rendering{})
	if err != nil {
		return err
	}
	plan := &release.Plan{}
	for _, route := range routes {
		if object := there.Objects[route.Key]; object != nil && object.GetDeletionTimestamp() == nil {
			plan.Delete = append(plan.Delete, object)
			log.FromContext(ctx).Info("a route is deleted, because its host is another's", "route", route.Key.String(), "reason", route.Err.Error())
			r.event(s, corev1.EventTypeWarning, v1.ReasonHostConflict, fmt.Sprintf("%s is deleted: %v", route.Key, route.Err))
		}
	}
	if plan.Empty() {
		return nil
	}
	if err := r.Actor.Delete(ctx, s.resource, plan); err != nil {
		return fmt.Errorf("cannot delete what has to go: %w", err)
	}
	return nil
}

// wasEverReady reports whether the application of a resource with a status was ever ready. Statuses of operators that did not record that
// count as ready once.
func wasEverReady(status *v1.AppServiceStatus) bool {
	return len(status.Conditions) > 0 && !status.NeverReady
}

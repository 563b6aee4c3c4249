// Package controller reconciles the resources of one kind: it reads the resource, renders it, observes the cluster,
// decides, acts and reports. A step takes the results of the steps before it and returns its own. The memory of a
// resource is changed by render, act and report; everything else is owned by the packages that the steps call.
package controller

import (
	"cmp"
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/internal/operator/status"
)

// Reconcile brings one resource to the state that its spec describes.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	began := r.Clock.Now()
	outcome, next, err := r.reconcile(ctx, request)
	if err != nil {
		outcome = metrics.Error
	}
	if outcome == metrics.Error || outcome == metrics.Gone {
		r.Rollouts.Looked(request.NamespacedName) // others must not wait for a resource that cannot even be read
	}
	r.Metrics.Reconciled(outcome, r.Clock.Since(began))
	return next, err
}

// reconcile runs the steps, which ARCHITECTURE.md describes in the same order. It returns the outcome and when to
// reconcile again.
func (r *Reconciler) reconcile(parent context.Context,
	request reconcile.Request) (metrics.Outcome, reconcile.Result, error) {
	ctx, cancel := untilReport(parent)
	defer cancel()

	// 1. Read the resource, and wait for a share of memory.
	s, err := r.read(ctx, request)
	if err != nil || s == nil {
		return metrics.Gone, reconcile.Result{}, err
	}
	end, err := r.InFlight.Begin(ctx, s.size)
	if err != nil {
		return metrics.Error, reconcile.Result{}, err
	}
	defer end()

	// 2. Finalize or expire it; let the backoff of a failed attempt end.
	switch {
	case s.resource.GetDeletionTimestamp() != nil:
		r.Hosts.Rest(s.resource)
		r.Rollouts.Forget(s.name())
		return r.reconcileDelete(ctx, s)
	case status.LifetimeOf(s.resource, s.previous.ExpirationTime, r.Clock.Now()).Over(r.Clock.Now()):
		if next, gone := r.expire(ctx, s); gone {
			return metrics.Gone, next, nil
		}
	}
	if wait := s.memory.backoff.Wait(r.Clock.Now(), s.version()); wait > 0 {
		return metrics.Deferred, requeueAfter(wait), nil
	}

	// 3. Look at the live objects and the newest record, render the resource, and check what the result needs.
	wanted, observed, refused, err := r.view(ctx, s)
	if err != nil {
		return metrics.Error, reconcile.Result{}, err
	}
	done := attempt{observed: observed, err: refused}

	// 4. Ask whether it may be written: spare a resource for which something new cannot be rendered, or failed; look which
	// stage comes first; refuse a name, and hold back routes, that others have.
	done = r.guard(ctx, s, &wanted, done)

	// 5. Act: compare, decide, take a place in the line of rollouts, write and record.
	if done.err == nil && !s.paused && !done.keepsRelease() {
		s, done = r.act(ctx, s, wanted, done)
	}
	if done.err == nil && done.waits() && done.observed.Record != nil {
		done = r.restart(ctx, s, wanted, done).decays()
	}
	// only the chart knows what needs a right
	done.err = rbac.Explain(done.err, s.renderer.Chart, s.renderer.Option(), s.renderer.ClusterScoped)
	if r.mayPass(s, done.err) {
		log.FromContext(ctx).V(1).Info("waited for the caches", "reason", done.err.Error())
		return metrics.Deferred, requeueAfter(staleRetry), nil
	}

	// 6. Keep the recorded release alive if the new one is refused or waits.
	done = r.keepAlive(ctx, s, wanted, done)
	r.emitAction(ctx, s, wanted, done)

	// 7. Run Jobs that run once.
	if s, done = r.runJobs(ctx, s, wanted, done); r.mayPass(s, done.err) {
		return metrics.Deferred, requeueAfter(staleRetry), nil
	}

	if r.mayGoOn(ctx, s, wanted, done) {
		return metrics.Deferred, requeueAfter(staleRetry), nil
	}

	// 8. Report: diagnose, judge, summarize, write the status and events.
	done.err = cmp.Or(done.err, done.contended)
	if wait := r.awaitNotice(s, wanted, done); wait > 0 {
		return metrics.Acted, requeueLater(wait), nil
	}
	s.memory.notice = notice{}
	if done.err == nil && len(wanted.heldRoutes) > 0 {
		done.err = wanted.heldRoutes[0].Err
	}
	done.err = timedOut(ctx, done.err)
	return r.report(parent, s, wanted, done)
}

// awaitNotice returns how long the status may wait until the controllers of workloads have observed a release; 0 if it
// may not, or something is wrong.
func (r *Reconciler) awaitNotice(s *scope, wanted rendering, done attempt) time.Duration {
	if done.err != nil || s.paused || len(wanted.heldRoutes) > 0 || !status.Unnoticed(done.observed) {
		return 0
	}
	return s.memory.notice.Wait(r.Clock.Now(), done.released() || done.resumed, r.UsersWait != nil && r.UsersWait())
}

// untilReport returns a context that ends before that of a reconcile, so that there is time to report that it did.
func untilReport(parent context.Context) (context.Context, context.CancelFunc) {
	if end, limited := parent.Deadline(); limited {
		return context.WithDeadline(parent, end.Add(-time.Until(end)/4))
	}
	return parent, func() {}
}

// mayGoOn reports whether the stage `before` that was waited for has become ready in this reconcile.
func (r *Reconciler) mayGoOn(ctx context.Context, s *scope, wanted rendering, done attempt) bool {
	if done.hold.by != byStage || done.err != nil {
		return false
	}
	still, err := r.stageBefore(ctx, s, &wanted, done)
	return err == nil && still.by == 0
}

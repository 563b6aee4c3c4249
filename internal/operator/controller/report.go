package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/internal/operator/status"
)

// report diagnoses why pods do not run, writes the status and emits events of what is new in it. It returns the outcome
// of the reconcile and when to reconcile again.
func (r *Reconciler) report(ctx context.Context, s *scope, wanted rendering,
	done attempt) (metrics.Outcome, reconcile.Result, error) {
	again := r.nextAttempt(s, done)
	problem := problemOf(done.err, done.plan, failureOf(done), r.Clock.Now())
	causes, looks := r.diagnose(ctx, s, wanted, done.observed, problem)
	s.memory.looks = looks
	in := status.Input{
		Resource: s.resource,
		Previous: s.previous,
		Snapshot: done.observed,
		Problem:  problem,
		Missing:  wanted.advice,
		Causes:   causes,
		Paused:   s.paused,
		Defaults: s.previous.Defaults,
		Gateways: r.gateways(ctx, done.observed),
		Now:      metav1.NewTime(r.Clock.Now()),
	}
	in.Hosts, in.Beside = r.Hosts.Serving(s.resource, done.observed.Objects)
	in.Undeleted, in.Namesake = s.undeleted, s.namesake
	if wanted.rendered != nil {
		in.Digest, in.Rendered, in.Unserved = wanted.outline.Digest, wanted.outline.Keys, wanted.outline.Unserved
		in.Unknown, in.Others, in.Defaults = wanted.outline.Unknown, othersOf(wanted), wanted.defaults
		in.Outdated, in.Warnings = outdated(wanted.outline.Outdated), wanted.outline.Warnings
	}
	if in.Waits = r.why(s, done); done.hold.by == byStage {
		r.showStaged(&in, s, done)
	} else if done.waits() {
		in.Digest, in.Rendered, in.Defaults = done.observed.Record.Digest, nil, s.previous.Defaults
		if s.memory.recorded != nil {
			in.Rendered = s.memory.recorded.keys
		}
	} else if done.err != nil && deployed(s) && done.observed.Record != nil {
		in.Digest = done.observed.Record.Digest // the spec was deployed, whatever prevents that again
	}
	if rendered := in.Rendered; rendered != nil {
		if !done.keepsRelease() { // else what is wanted failed
			rendered = slices.Concat(rendered, wanted.keys())
		}
		in.Retained = plan.KeptData(done.observed.Objects, rendered...)
	}
	if rules := r.Policy.Get(); rules != nil && rules.BuiltIn != policy.Shared {
		in.Policy = string(rules.BuiltIn)
	}
	in.NextAttempt = again
	in.Decayed = problemOf(done.decayed, nil, v1.ReasonRepairFailed, r.Clock.Now())
	if done.hold.by == byReturn {
		in.Returned = done.hold.err.Error()
	}
	current, until := status.Summarize(in)
	var late error // a return that cannot be decided yet
	if r.returns(s) && s.failsByItself(wanted, done, current, causes) && !r.isTooEarly(s, done, current) {
		back, err := r.goBack(ctx, s, wanted, done, culpritOf(current))
		if back || r.mayPass(s, err) {
			return metrics.Acted, requeueAfter(staleRetry), nil
		}
		if in.Stays = err.Error(); isStale(err) {
			late = err
		}
		current, until = status.Summarize(in)
	}
	judgeAt, notNoted := r.trackRollout(ctx, s, done)
	// failed attempts have a backoff of their own
	delayed, err := r.Status.Write(ctx, s.resource, s.previous, current, done.err == nil)
	switch {
	// deleted meanwhile, or created again: its event is on the way
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
		return metrics.Gone, requeueAfter(staleRetry), nil
	case err != nil:
		return metrics.Error, reconcile.Result{}, fmt.Errorf("cannot write status: %w", err)
	case delayed == 0:
		r.emitState(ctx, s, current, problem)
		r.emitExpiry(s, current)
		r.emitUnfit(ctx, s, done, in.Waits)
	}
	r.measureFailure(done, problem)
	for _, at := range []time.Time{until, judgeAt} {
		if !at.IsZero() {
			delayed = sooner(delayed, max(time.Millisecond, at.Sub(r.Clock.Now())))
		}
	}
	next := r.next(s, wanted, done, delayed)
	if err = cmp.Or(notNoted, late); err == nil {
		err = r.retire(ctx, s, done.observed, current)
	}
	if stale := (*release.StaleError)(nil); errors.As(err, &stale) {
		return outcomeOf(s, done), requeueAfter(staleRetry), nil
	}
	return outcomeOf(s, done), next, err
}

// retire updates the records of earlier releases, as the last step: they do not affect the resource, so those of one
// release may wait until the resource has settled.
func (r *Reconciler) retire(ctx context.Context, s *scope, observed *livestate.Snapshot,
	current *v1.AppServiceStatus) error {
	var ready *livestate.Record
	if !status.HasRun(current) {
		ready = release.LastReady(observed.Records) // it may be returned to
	}
	due := r.Actor.Retirement(observed, ready)
	moving := meta.IsStatusConditionTrue(current.Conditions, v1.ConditionReconciling)
	if s.paused || due.Empty() || moving && due.OfOne() {
		return nil
	}
	return r.Actor.Retire(ctx, s.resource, due)
}

// outdated returns the problem of fields that are allowed only because the recorded release has them; nil for none.
func outdated(kept *policy.Error) *status.Problem {
	if kept == nil {
		return nil
	}
	return &status.Problem{Reason: kept.Reason(), Message: kept.Shown(), Parts: kept.Parts(), Hint: kept.Advice()}
}

// othersOf returns the names of the objects that exist where one is missing.
func othersOf(wanted rendering) map[reference.Object][]string {
	var out map[reference.Object][]string
	for _, missing := range wanted.advice {
		if others := wanted.facts.States[missing.Object].Others; len(others) > 0 {
			if out == nil {
				out = map[reference.Object][]string{}
			}
			out[missing.Object] = others
		}
	}
	return out
}

// failureOf returns the reason of Ready if an attempt fails.
func failureOf(done attempt) string {
	if record := done.observed.Record; done.state == plan.Unfinished && record != nil && record.Revision > 1 {
		return v1.ReasonUpgradeFailed // a first release that is resumed is still an install; any other is not
	}
	return plan.ActionOf(done.state).Failure
}

// next returns when to reconcile again: soon after a failure; else when the first postponed task is due, after the
// period of the kind at the latest.
func (r *Reconciler) next(s *scope, wanted rendering, done attempt, delayed time.Duration) reconcile.Result {
	var contended *release.ContendedError
	switch {
	case errors.As(done.err, &contended):
		return requeueAfter(contended.Wait)
	case done.err != nil:
		return requeueAfter(s.memory.backoff.Again(r.Clock.Now(), s.version(), isAwaited(done.err)))
	}
	s.memory.backoff = backoff[version]{}
	wait := sooner(sooner(sooner(r.Period, delayed), wanted.reload), done.reload)
	wait = sooner(wait, r.generatedAt(s, wanted, done))
	if done.observed.Unconfirmed { // if a watch broke, the events of our writes may never arrive
		wait = sooner(wait, livestate.Lapse)
	}
	for _, looks := range s.memory.looks {
		wait = sooner(wait, looks.Wait(r.Clock.Now()))
	}
	return requeueLater(wait)
}

// nextAttempt returns when a failed attempt is repeated, if only the next attempt can end the failure; else the zero
// time.
func (r *Reconciler) nextAttempt(s *scope, done attempt) time.Time {
	var contended *release.ContendedError
	switch {
	case errors.As(done.err, &contended):
		return r.Clock.Now().Add(contended.Wait)
	case !isRetried(done.err):
		return time.Time{}
	}
	return r.Clock.Now().Add(s.memory.backoff.Next(s.version()))
}

// outcomeOf returns the outcome of a reconcile.
func outcomeOf(s *scope, done attempt) metrics.Outcome {
	switch {
	case s.paused:
		return metrics.Unchanged
	case done.err != nil:
		return metrics.Failed
	case done.waits():
		return metrics.Deferred
	case done.acted():
		return metrics.Acted
	}
	return metrics.Unchanged
}

// measureFailure counts a reconcile that could not bring the objects to the state that the spec describes.
func (r *Reconciler) measureFailure(done attempt, problem *status.Problem) {
	if done.err == nil {
		return
	}
	r.Metrics.Failed(problem.Reason)
	if done.acted() && problem.Reason != v1.ReasonPending {
		r.Metrics.ActionFailed(plan.ActionOf(done.state).Verb)
	}
}

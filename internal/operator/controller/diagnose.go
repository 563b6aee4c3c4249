package controller

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
	"github.com/example/appservice-operator/internal/operator/status/reason"
)

// diagnose returns why workloads are not as desired and what other objects wait for, and when to look again.
func (r *Reconciler) diagnose(ctx context.Context, s *scope, wanted rendering, observed *livestate.Snapshot,
	problem *status.Problem) (map[kube.Key][]diagnose.Cause, schedules) {
	if s.paused || problem != nil {
		return nil, nil
	}
	causes, looks := map[kube.Key][]diagnose.Cause{}, schedules{}
	for _, key := range slices.SortedFunc(maps.Keys(observed.Objects), kube.Key.Compare) {
		var found []diagnose.Cause
		var schedule *diagnose.PodReads
		if awaited, waits := diagnose.AwaitedOf(observed.Objects[key], wanted.advice); waits {
			found, schedule = r.ask(ctx, s.memory.looks[key], awaited)
		} else if workload, makesPods := diagnose.WorkloadOf(observed.Objects[key]); makesPods &&
			(workload.Noticed || workload.Refused) {
			found, schedule = r.causesOf(ctx, s, diagnose.Findings{Workload: workload, Now: r.Clock.Now()})
		}
		if len(found) > 0 {
			causes[key] = found
		}
		if schedule != nil {
			looks[key] = schedule
		}
	}
	return causes, looks
}

// causesOf returns why a workload is not as desired, and the schedule of looks at its pods; nil if none is needed.
func (r *Reconciler) causesOf(ctx context.Context, s *scope,
	findings diagnose.Findings) ([]diagnose.Cause, *diagnose.PodReads) {
	workload := findings.Workload
	if workload.Settled && !mayCrashAgain(s, workload.Key) {
		return diagnose.Causes(findings), nil
	}
	// after a restart, the known cause is looked for again before anything else is reported
	stalled := diagnosed(s.previous)
	looks := diagnose.Follow(s.memory.looks[workload.Key], workload, findings.Now,
		stalled || workload.Over || workload.Refused)
	first := stalled && !looks.Looked()
	switch {
	case !looks.Due(findings.Now):
	case !first && !r.mayLook():
		looks.Postpone(findings.Now)
	default:
		r.readPods(ctx, looks, &findings)
	}
	if !looks.Looked() {
		looks.Causes = diagnose.Causes(findings)
	}
	return looks.Causes, looks
}

// ask returns what other controllers report about an object that waits for them, and when to read that again.
func (r *Reconciler) ask(ctx context.Context, known *diagnose.PodReads,
	awaited *diagnose.Awaited) ([]diagnose.Cause, *diagnose.PodReads) {
	now := r.Clock.Now()
	looks := awaited.Follow(known, now)
	switch {
	case !looks.Due(now):
	case !r.mayLook():
		looks.Postpone(now)
	default:
		found, err := awaited.Ask(ctx, r.Live)
		if err != nil {
			log.FromContext(ctx).Info("the reasons of other controllers could not be read", "object", awaited.GetName(), "reason", err.Error())
			found = looks.Causes
		}
		looks.Done(now, diagnose.Steady(looks.Causes, found))
	}
	return looks.Causes, looks
}

// mayLook reports whether the bound allows another look now.
func (r *Reconciler) mayLook() bool { return r.Looks == nil || r.Looks.Allow() }

// readPods reads pods and related objects. If that fails, the causes stay as they were.
func (r *Reconciler) readPods(ctx context.Context, looks *diagnose.PodReads, findings *diagnose.Findings) {
	found := looks.Causes
	findings.Known = found
	if err := diagnose.Collect(ctx, r.Live, findings); err != nil {
		log.FromContext(ctx).Info("pods could not be looked at", "reason", err.Error())
	} else {
		found = diagnose.Steady(looks.Causes, diagnose.Causes(*findings))
	}
	looks.Done(findings.Now, found)
}

// diagnosed reports whether a status says that the rollout is stuck for a cause found in its pods.
func diagnosed(previous *v1.AppServiceStatus) bool {
	condition := meta.FindStatusCondition(previous.Conditions, v1.ConditionStalled)
	return condition != nil && condition.Status == metav1.ConditionTrue && reason.Of(condition.Reason).InPods
}

// mayCrashAgain reports whether pods of a workload that seem healthy may be about to crash again. If no cause is known,
// any workload's pods may.
func mayCrashAgain(s *scope, workload kube.Key) bool {
	condition := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionStalled)
	if !diagnosed(s.previous) || !reason.Of(condition.Reason).Recurs ||
		s.previous.ObservedGeneration != s.resource.GetGeneration() {
		return false
	}
	if len(s.memory.looks) == 0 {
		return true
	}
	looks := s.memory.looks[workload]
	return looks != nil && (!looks.Looked() || len(looks.Causes) > 0 && looks.Causes[0].Effect == diagnose.Lasting)
}

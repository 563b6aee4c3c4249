package controller

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/operator/status"
)

// emitRepair emits an event, logs, and updates metrics for a repair of the recorded release.
func (r *Reconciler) emitRepair(ctx context.Context, s *scope, plan *plan.Plan) {
	log.FromContext(ctx).Info("drift of the recorded release corrected", "changes", plan.String())
	r.event(s, corev1.EventTypeNormal, v1.ReasonDriftCorrected, plan.String())
	r.measureDrift(plan)
}

// emitAction emits an event, logs, and updates metrics for an action that was carried out.
func (r *Reconciler) emitAction(ctx context.Context, s *scope, wanted rendering, done attempt) {
	logger := log.FromContext(ctx)
	if done.err != nil || !done.acted() {
		return
	}
	what, revision := plan.ActionOf(done.state), 0
	if done.observed.Record != nil {
		revision = done.observed.Record.Revision
	}
	changes := cmp.Or(done.changes, "nothing had to be written")
	if done.state == plan.Drifted && done.plan.RollsPods() && kube.IsAppService(r.Kind) {
		changes += fmt.Sprintf("; to go back to an earlier release, use kubectl appservice undo %s", s.resource.GetName())
	}
	logger.Info(what.Log, "revision", revision, "digest", wanted.outline.Digest, "changes", changes)
	r.event(s, corev1.EventTypeNormal, what.Event, fmt.Sprintf(what.Note, revision, changes))
	if missing := wanted.outline.Definitions; len(missing) > 0 && what.Records {
		r.event(s, corev1.EventTypeWarning, v1.ReasonDefinitionMissing, "CustomResourceDefinitions of the chart are left "+
			"out, and the cluster does not have "+strings.Join(missing, ", ")+": their administrator installs them")
	}
	r.Metrics.Acted(what.Verb, done.took)
	if !what.Records {
		r.measureDrift(done.plan)
	}
}

// emitAdoption emits an event and logs which objects were taken over.
func (r *Reconciler) emitAdoption(ctx context.Context, s *scope, taken []kube.Key) {
	if len(taken) == 0 {
		return
	}
	names := make([]string, 0, len(taken))
	for _, key := range taken {
		names = append(names, key.String())
	}
	list := strings.Join(names, ", ")
	log.FromContext(ctx).Info("objects adopted", "objects", list)
	r.event(s, corev1.EventTypeNormal, v1.ReasonAdopted, "took over "+list)
}

// emitLeftOver emits an event and logs which objects of an adopted Helm release nothing manages any more.
func (r *Reconciler) emitLeftOver(ctx context.Context, s *scope, objects []string) {
	if len(objects) == 0 {
		return
	}
	of, list := release.AdoptionOf(s.resource).Release, strings.Join(objects, ", ")
	log.FromContext(ctx).Info("objects of an adopted Helm release are not rendered", "release", of, "objects", list)
	r.event(s, corev1.EventTypeWarning, v1.ReasonLeftOver,
		fmt.Sprintf("objects of Helm release %q, whose records were deleted, stay as they are: %s. Keep or delete them yourself",
			of, list))
}

// emitUnwatched warns of objects that are rendered no more and cannot be deleted, because nothing is known of their
// kind.
func (r *Reconciler) emitUnwatched(ctx context.Context, s *scope, objects []kube.Key, err error) {
	if len(objects) == 0 {
		return
	}
	var list []string
	for _, key := range objects {
		list = append(list, key.String())
	}
	log.FromContext(ctx).Info("objects of the release before are not rendered, and cannot be watched", "objects", list,
		"reason", err.Error())
	r.event(s, corev1.EventTypeWarning, v1.ReasonLeftOver,
		fmt.Sprintf("no longer rendered, and not deleted, because the operator cannot read them: %s (%v). Keep or delete them yourself",
			strings.Join(list, ", "), err))
}

// measureDrift counts objects whose drift was repaired.
func (r *Reconciler) measureDrift(plan *plan.Plan) {
	for _, object := range plan.Create {
		r.Metrics.Corrected(kube.KeyOf(object).Kind, "create")
	}
	for _, change := range plan.Apply {
		r.Metrics.Corrected(kube.KeyOf(change.Desired).Kind, "apply")
	}
	for _, object := range plan.Delete {
		r.Metrics.Corrected(kube.KeyOf(object).Kind, "delete")
	}
}

// emitState emits events and logs what is new in a status that was just written. A message that changes while its
// reason stays is not news, unless it is an error of the operator.
func (r *Reconciler) emitState(ctx context.Context, s *scope, current *v1.AppServiceStatus, problem *status.Problem) {
	before := cmp.Or(meta.FindStatusCondition(s.previous.Conditions, v1.ConditionReady), &metav1.Condition{})
	now := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	logger := log.FromContext(ctx).WithValues("generation", s.resource.GetGeneration())
	if problem != nil && !s.paused {
		if now.Reason != v1.ReasonPending && (before.Reason != now.Reason || before.Message != now.Message) {
			// the full message: a status has room for its ends only
			logger.Info("reconcile failed", "reason", problem.Reason, "message", problem.Message)
			r.event(s, corev1.EventTypeWarning, problem.Reason, now.Message)
		} else {
			logger.V(1).Info("reconcile failed again", "reason", problem.Reason, "message", problem.Message)
		}
		return
	}
	reason, kind, note := "", corev1.EventTypeNormal, now.Message
	switch was, is := s.previous.Phase, current.Phase; {
	case is == v1.PhasePaused && was != is:
		reason = v1.ReasonPaused
	case was == v1.PhasePaused && was != is:
		reason, note = v1.ReasonResumed, "no longer paused: "+note
	case now.Reason == v1.ReasonReturnedToRelease:
		if before.Reason != now.Reason {
			reason, kind = now.Reason, corev1.EventTypeWarning
		}
	case is == v1.PhaseDegraded && (was != is || before.Reason != now.Reason):
		reason, kind, note = v1.ReasonDegraded, corev1.EventTypeWarning, now.Reason+": "+note
	case is == v1.PhaseFailed && (was != is || before.Reason != now.Reason):
		reason, kind, note = v1.ReasonStalled, corev1.EventTypeWarning, now.Reason+": "+note
	case is == v1.PhaseRunning && (was == v1.PhaseDegraded || was == v1.PhaseFailed):
		reason = v1.ReasonRecovered
	}
	if reason != "" {
		logger.Info("state changed", "reason", reason, "message", note)
		r.event(s, kind, reason, note)
	}
}

// event emits an event. The API server accepts notes of up to 1,024 bytes.
func (r *Reconciler) event(s *scope, kind, reason, note string) {
	r.Recorder.Event(s.resource, kind, reason, status.OneLine(note))
}

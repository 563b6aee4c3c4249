package controller

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/status"
)

// tell makes an event and a log line of what a status that was just written says and the one before did not. Messages that
// change while the reason stays are no news, but for an error of ours.
func (r *Reconciler) tell(ctx context.Context, p *pass, current *v1.AppServiceStatus, problem *status.Problem) {
	before := meta.FindStatusCondition(p.previous.Conditions, v1.ConditionReady)
	if before == nil {
		before = &metav1.Condition{}
	}
	now := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	logger := log.FromContext(ctx).WithValues("generation", p.resource.GetGeneration())
	if problem != nil && !p.paused {
		if now.Reason != v1.ReasonPending && (before.Reason != now.Reason || before.Message != now.Message) {
			logger.Info("reconcile failed", "reason", problem.Reason, "message", now.Message)
			r.event(p, corev1.EventTypeWarning, problem.Reason, now.Message)
		}
		return
	}
	reason, kind, note := "", corev1.EventTypeNormal, now.Message
	switch was, is := p.previous.Phase, current.Phase; {
	case is == v1.PhasePaused && was != is:
		reason = v1.ReasonPaused
	case was == v1.PhasePaused && was != is:
		reason, note = v1.ReasonResumed, "no longer paused: "+note
	case is == v1.PhaseDegraded && (was != is || before.Reason != now.Reason):
		reason, kind, note = v1.ReasonDegraded, corev1.EventTypeWarning, now.Reason+": "+note
	case is == v1.PhaseFailed && (was != is || before.Reason != now.Reason):
		reason, kind, note = v1.ReasonStalled, corev1.EventTypeWarning, now.Reason+": "+note
	case is == v1.PhaseRunning && (was == v1.PhaseDegraded || was == v1.PhaseFailed):
		reason = v1.ReasonRecovered
	}
	if reason != "" {
		logger.Info("state changed", "reason", reason, "message", note)
		r.event(p, kind, reason, note)
	}
}

// tellAction makes an event and a log line of an action that was carried out.
func (r *Reconciler) tellAction(ctx context.Context, p *pass) {
	logger, revision, what := log.FromContext(ctx), 0, cmp.Or(p.memory.wrote.plan, "nothing had to be written")
	if p.snapshot.Record != nil {
		revision = p.snapshot.Record.Revision
	}
	switch p.state {
	case release.Absent:
		logger.Info("release installed", "revision", revision, "digest", p.outline.Digest)
		r.event(p, corev1.EventTypeNormal, v1.ReasonInstalled, fmt.Sprintf("release %d: %s", revision, what))
	case release.OutOfDate:
		logger.Info("release upgraded", "revision", revision, "digest", p.outline.Digest)
		r.event(p, corev1.EventTypeNormal, v1.ReasonUpgraded, fmt.Sprintf("release %d: %s", revision, what))
	case release.Unfinished:
		logger.Info("release resumed", "revision", revision, "digest", p.outline.Digest)
		r.event(p, corev1.EventTypeNormal, v1.ReasonReleaseResumed, fmt.Sprintf("release %d was unfinished: %s", revision, what))
	case release.Drifted:
		logger.Info("drift corrected", "changes", p.plan.String())
		r.event(p, corev1.EventTypeNormal, v1.ReasonDriftCorrected, p.plan.String())
	}
	p.memory.wrote = wrote{}
}

// maxNote is the length of an event's note in characters; the API server takes 1,024 bytes.
const maxNote = 256

func (r *Reconciler) event(p *pass, kind, reason, note string) {
	if runes := []rune(note); len(runes) > maxNote {
		note = string(runes[:maxNote-1]) + "…"
	}
	r.Recorder.Event(p.resource, kind, reason, note)
}

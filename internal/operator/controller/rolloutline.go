package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/operator/rollout"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/operator/status/health"
	build "github.com/example/appservice-operator/internal/version"
)

// chartOf returns the chart of a renderer.
func chartOf(renderer *render.Renderer) rollout.Chart {
	return rollout.Chart{Identity: renderer.Identity(), Operator: build.Version}
}

// Chart returns the chart in use.
func (r *Reconciler) Chart() rollout.Chart { return chartOf(r.Charts.Get()) }

// spare leaves the recorded release to a resource for which something new, and nothing that its user changed, cannot be
// rendered.
func (r *Reconciler) spare(_ context.Context, s *scope, _ *rendering, found attempt) (hold, error) {
	_, begun := s.begun(found.observed.Record)
	if begun || found.observed.Record == nil || !deployed(s) || !s.basis.New(found.observed.Record).Any() ||
		!isUnrenderable(found.err) {
		return found.hold, found.err
	}
	return hold{by: byFailure, err: found.err}, nil
}

// begin reports whether an attempt may change objects, and returns the rollout that it belongs to; nil for none. It
// takes a place in the line of rollouts if it runs the stage `before`, or restarts pods, while pods are desired, and
// only the platform asked for that. The newest record says so before anything else is written.
func (r *Reconciler) begin(ctx context.Context, s *scope, a attempt) (running *rollout.Rollout, may bool, err error) {
	if begun, yes := s.begun(a.observed.Record); yes {
		r.Rollouts.Resume(s.name(), begun.Since)
		return &begun, true, nil
	}
	replicas := health.ReplicasOf(a.observed.Objects)
	rolls := replicas.Desired+replicas.Available > 0 && a.isRollout()
	if a.state != plan.OutOfDate || !deployed(s) || !rolls && !a.plan.MakesPods() {
		return nil, true, nil
	}
	if !r.Rollouts.Begin(s.name()) {
		return nil, false, nil
	}
	begun := s.basis.Begin(s.resource.GetGeneration(), r.Clock.Now(), replicas)
	return &begun, true, r.Actor.Mark(ctx, s.resource, a.observed.Record,
		map[string]string{v1.LabelRollout: begun.String()})
}

// isRollout reports whether an attempt runs the stage `before`, or changes pods by more than a restart.
func (a attempt) isRollout() bool {
	return a.hold.by == byStage || a.plan.RollsPods() && !a.plan.OnlyRestarts()
}

// trackRollout reports the state of a rollout to the line of rollouts, and updates the label of the record for one that
// has begun. It returns when to do that again although nothing changes; the zero time for never.
func (r *Reconciler) trackRollout(ctx context.Context, s *scope, done attempt) (again time.Time, err error) {
	defer r.Rollouts.Looked(s.name())
	record := done.observed.Record
	running, begun := s.begun(record)
	was, asRecorded := running, !begun && (done.state == plan.InSync || done.state == plan.Drifted)
	if asRecorded {
		was, begun = s.basis.Continues(record, s.resource.GetGeneration())
		running = s.basis.Takes(was)
	}
	switch {
	case done.hold.by == byFailure:
		r.Rollouts.Fail(s.name())
		return again, nil
	case done.hold.by == byLine:
		return again, nil
	case !begun:
		r.Rollouts.End(s.name())
		return again, nil
	}
	asRecorded = asRecorded || !s.basis.New(record).Any()
	now, replicas := r.Clock.Now(), health.ReplicasOf(done.observed.Objects)
	judged, state := running.Judge(asRecorded, replicas, now, r.Rollouts.Deadline)
	switch state {
	case rollout.Over:
		r.Rollouts.End(s.name())
		return again, r.Actor.Mark(ctx, s.resource, record, map[string]string{v1.LabelRollout: ""})
	case rollout.Failed:
		if r.Rollouts.Fail(s.name()); judged == was {
			return again, nil
		}
		return again, r.Actor.Mark(ctx, s.resource, record, map[string]string{v1.LabelRollout: judged.String()})
	}
	if again = judged.Since.Add(r.Rollouts.Deadline); judged == was {
		r.Rollouts.Resume(s.name(), running.Since)
		return again, nil
	}
	r.Rollouts.End(s.name()) // its place was for one deadline
	return again, r.Actor.Mark(ctx, s.resource, record, map[string]string{v1.LabelRollout: judged.String()})
}

// why returns what a resource waits for, and what its user can do about it, if anything.
func (r *Reconciler) why(s *scope, a attempt) (waits status.Waits) {
	if a.hold.by != byLine && a.hold.by != byFailure {
		return waits
	}
	news := s.basis.New(a.observed.Record)
	what, comes, named := "a new chart", "a new chart or operator", s.basis.String(news)
	switch {
	case news.Defaults && !news.Chart:
		what, comes = "a change of defaults", "a change of defaults"
		waits.Hint = "correct ConfigMap " + defaults.Name +
			" in this namespace, or revert the change; until then the running release stays as it is"
	case !news.Any():
		what, comes, named = "a change of the cluster", "a change of the cluster", "a change of the cluster"
	}
	halted := r.Rollouts.Halted(s.resource.GetNamespace())
	switch {
	case is[*returnedError](a.hold.err):
		waits.Short = what + " failed, the previous release runs again"
		waits.Message = fmt.Sprintf("%s is held back: %v", named, a.hold.err)
	case a.hold.by == byFailure:
		waits.Short = what + " is held back"
		waits.Message = fmt.Sprintf("%s is held back, because it cannot be rendered for this resource: %v", named,
			unnamed(news, a.hold.err))
	case halted != "":
		waits.Short, waits.Message = what+" is held back", named+" "+halted
	default:
		waits.Short = comes + " waits for its turn"
		waits.Message, waits.Hint = waits.Short+": a few resources are updated at a time. Pods keep running, and your own changes are not delayed", ""
	}
	return waits
}

// emitUnfit emits an event and logs that something new cannot be rendered for a resource, unless the status before
// said so.
func (r *Reconciler) emitUnfit(ctx context.Context, s *scope, done attempt, why status.Waits) {
	known := slices.ContainsFunc(s.previous.Problems,
		func(p v1.Problem) bool { return p.Message == status.OneLine(why.Message) })
	if done.hold.by != byFailure || known {
		return
	}
	news, reason := s.basis.New(done.observed.Record), problemOf(done.hold.err, nil, "", r.Clock.Now()).Reason
	what, message := s.basis.String(news), unnamed(news, done.hold.err).Error()
	log.FromContext(ctx).Info("an update is held back from a resource, which keeps its release", "new", what,
		"reason", reason, "message", message)
	note := fmt.Sprintf("%s cannot be rendered, the previous release stays: %s", what, message)
	if is[*returnedError](done.hold.err) {
		note = fmt.Sprintf("%s failed: %s", what, message)
	}
	r.event(s, corev1.EventTypeWarning, reason, note)
}

// unnamed returns an error without the name of the defaults that it comes from, if only defaults are new.
func unnamed(news rollout.Parts, err error) error {
	var culprit *defaults.Error
	if !news.Chart && errors.As(err, &culprit) && culprit.Source == defaults.ByNamespace {
		return culprit.Err
	}
	return err
}

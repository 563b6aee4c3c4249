package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/fleet"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/problem"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
	build "github.com/example/appservice-operator/internal/version"
)

// chartOf returns what a renderer renders with.
func chartOf(renderer *render.Renderer) fleet.Chart {
	return fleet.Chart{Identity: renderer.Identity(), Operator: build.Version}
}

// Chart returns what resources are rendered with now.
func (r *Reconciler) Chart() fleet.Chart { return chartOf(r.Charts.Get()) }

// begun reports whether the chart has begun to change the resource without its user.
func (s *scope) begun(record *cluster.Record) bool {
	return s.chart.Begun(record, s.resource.GetGeneration())
}

// byChart reports whether only a new chart, or operator, can ask for another release than the recorded one.
func (s *scope) byChart(record *cluster.Record) bool {
	return record != nil && !s.chart.Rendered(record) && s.memory.settled.chart != s.chart.Digest && (deployed(s) || s.begun(record))
}

// admit decides whether a new chart may change the resource. Who is held back keeps the recorded release, and so does whoever the chart cannot
// be rendered for: that is the fault of neither the spec nor its user.
func (r *Reconciler) admit(ctx context.Context, s *scope, wanted rendering, done action) action {
	record := done.there.Record
	if s.paused || !s.byChart(record) || s.begun(record) {
		return done
	}
	switch {
	case done.err == nil && record.Digest == wanted.outline.Digest:
		return done
	case done.err != nil && (!problem.Blocked(done.err) || s.failedBefore(done.err)):
		return done
	case done.err != nil:
		done.unfit, done.err = done.err, nil
		r.tellUnfit(ctx, s, done.unfit)
	}
	standing := fleet.Standing{Waits: true, Unfit: done.unfit != nil}
	r.Gate.Note(s.chart, s.name(), standing)
	done.hold = r.Gate.Hold(s.chart)
	if done.waits() {
		s.standing = standing
		r.Rollouts.End(r.candidate(s.name()))
	}
	return done
}

// mark returns what the next record says of a chart that changes the resource, and nobody else does; empty if that is not so, or if the
// resource is not ready anyhow. It reports whether the present record is still to say so, before anything is written.
func (s *scope) mark(state release.State, plan *release.Plan, record *cluster.Record) (mark string, isNew bool) {
	switch {
	case s.begun(record):
		return s.chart.Mark(s.resource.GetGeneration()), false
	case state == release.OutOfDate && !plan.Empty() && s.byChart(record) && s.wasReady():
		return s.chart.Mark(s.resource.GetGeneration()), true
	}
	return "", false
}

// failedBefore reports whether the resource is not ready for the reason of an error already.
func (s *scope) failedBefore(err error) bool {
	ready := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionFalse && ready.Reason == problem.Of(err, nil, "").Reason
}

// wasReady reports whether the resource was ready when the reconcile began.
func (s *scope) wasReady() bool {
	return meta.IsStatusConditionTrue(s.previous.Conditions, v1.ConditionReady)
}

// tellUnfit makes an event and a log line of a chart that cannot be rendered for a resource, once.
func (r *Reconciler) tellUnfit(ctx context.Context, s *scope, err error) {
	unfit := unfit{chart: s.chart.Digest, message: err.Error()}
	if s.memory.unfit == unfit {
		return
	}
	s.memory.unfit = unfit
	reason := problem.Of(err, nil, "").Reason
	log.FromContext(ctx).Info("chart cannot be rendered for a resource, which keeps its release", "digest", unfit.chart, "reason", reason, "message", unfit.message)
	r.event(s, corev1.EventTypeWarning, reason, fmt.Sprintf("%s cannot be rendered, the release before stays: %s", s.chart, unfit.message))
}

// stand tells the gate how the resource stands with the chart, and then leaves the line, unless it waits or is on its way: who fails
// closes the gate before anybody else has its place.
func (r *Reconciler) stand(s *scope, done action, current *v1.AppServiceStatus) {
	moving := meta.IsStatusConditionTrue(current.Conditions, v1.ConditionReconciling)
	begun := s.begun(done.there.Record)
	s.standing.Failed = begun && meta.IsStatusConditionTrue(current.Conditions, v1.ConditionStalled)
	r.Gate.Note(s.chart, s.name(), s.standing)
	switch {
	case done.waits():
	case !moving:
		r.Rollouts.End(r.candidate(s.name()))
	case begun: // before a restart, perhaps
		r.Rollouts.Begin(r.candidate(s.name()))
	}
}

// waits reports whether the resource keeps the recorded release for now, though its user asks for no other.
func (a action) waits() bool { return a.turn.Waits || a.hold.Closed() || a.unfit != nil }

// why says what a resource waits for, all of it and in short.
func (a action) why(chart fleet.Chart) (long, short string) {
	switch {
	case a.unfit != nil:
		return fmt.Sprintf("%s is held back, because it cannot be rendered for this resource: %v", chart, a.unfit), "a new chart is held back"
	case a.hold.Closed():
		return a.hold.Message, "a new chart is held back"
	case a.turn.Waits:
		return "a new chart or operator waits for its turn, until other resources have changed: " + a.turn.String(),
			"a new chart or operator waits for its turn: " + a.turn.String()
	}
	return "", ""
}

// recorded are the objects of the recorded release, by which a resource that waits is judged: those that its status lists, as far as they are
// there. What was missing was created again.
func recorded(s *scope, there *cluster.Snapshot) []kube.Key {
	keys := slices.SortedFunc(maps.Keys(there.Objects), kube.Key.Compare)
	if len(s.previous.Resources) == 0 {
		return keys
	}
	var listed []kube.Key
	for _, resource := range s.previous.Resources {
		at := slices.IndexFunc(keys, func(key kube.Key) bool { return key.Kind == resource.Kind && key.Name == resource.Name })
		if at >= 0 {
			listed = append(listed, keys[at])
		}
	}
	return listed
}

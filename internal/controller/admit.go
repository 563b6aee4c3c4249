package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/defaults"
	"github.com/example/appservice-operator/internal/fleet"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/problem"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/status"
	build "github.com/example/appservice-operator/internal/version"
)

// chartOf returns the chart of a renderer.
func chartOf(renderer *render.Renderer) fleet.Chart {
	return fleet.Chart{Identity: renderer.Identity(), Operator: build.Version}
}

// Chart returns the chart in use.
func (r *Reconciler) Chart() fleet.Chart { return chartOf(r.Charts.Get()) }

// Version returns the version that gates of charts compare with.
func (r *Reconciler) Version() fleet.Version { return r.Chart() }

// DefaultsOf returns the defaults in use of a namespace.
func (r *Reconciler) DefaultsOf(namespace string) fleet.Defaults {
	if r.Defaults == nil {
		return fleet.Defaults{}
	}
	text, _ := r.Defaults.Of(context.Background(), namespace) // the render reports what is wrong
	return fleet.Defaults{Digest: text.Digest}
}

// begun reports whether a new chart, or new defaults, have begun to change the resource without its user asking for it.
func (s *scope) begun(record *cluster.Record) bool {
	return s.asked.Begun(record, s.resource.GetGeneration())
}

// news returns what is new since the recorded release was rendered, if nothing else can require a new release.
func (s *scope) news(record *cluster.Record) fleet.Parts {
	if record == nil || !deployed(s) && !s.begun(record) {
		return fleet.Parts{}
	}
	news, settled := s.asked.New(record), s.memory.settled
	news.Chart = news.Chart && settled.chart != s.asked.Chart.Digest
	news.Defaults = news.Defaults && (settled.chart == "" || settled.defaults != s.asked.Defaults.Digest)
	return news
}

// admit decides whether a new chart, or new defaults of the namespace, may change the resource. A resource that is held back keeps the recorded
// release, and so does one that cannot be rendered with them: neither its spec nor its user is at fault.
func (r *Reconciler) admit(ctx context.Context, s *scope, wanted rendering, done action) action {
	record := done.there.Record
	news := s.news(record)
	if s.paused || !news.Any() || s.begun(record) {
		return done
	}
	switch {
	case done.err == nil && record.Digest == wanted.outline.Digest:
		return done
	case done.err != nil && (!problem.Blocked(done.err) || s.failedBefore(done.err)):
		return done
	case done.err != nil:
		done.unfit, done.err = done.err, nil
		r.tellUnfit(ctx, s, news, done.unfit)
	}
	stands := standingOf(news, done.unfit)
	r.Gates.Note(s.asked, s.name(), stands.chart, stands.defaults)
	done.hold = r.Gates.Hold(s.asked, news, s.name())
	if done.waits() {
		s.standing = stands
		r.Rollouts.End(r.candidate(s.name()))
	}
	return done
}

// standingOf returns how a resource fares with what is new to it. Failures that the defaults of its namespace cause do not count against the
// chart, unless the same defaults could be rendered with the chart before.
func standingOf(news fleet.Parts, unfit error) standing {
	out := standing{
		chart:    fleet.Standing{Waits: news.Chart, Unfit: news.Chart && unfit != nil},
		defaults: fleet.Standing{Waits: news.Defaults, Unfit: news.Defaults && unfit != nil},
	}
	var culprit *defaults.Error
	if news.Defaults && errors.As(unfit, &culprit) && culprit.Source == defaults.ByNamespace {
		out.chart = fleet.Standing{}
	}
	return out
}

// mark returns the note in the next record that only a chart, or defaults, changed the resource; empty if anything else did, or if the
// resource is not ready anyway. It reports whether the current record still needs that note before anything is written.
func (s *scope) mark(state release.State, plan *release.Plan, record *cluster.Record) (mark string, isNew bool) {
	switch {
	case s.begun(record):
		return record.Rollout, false
	case state == release.OutOfDate && !plan.Empty() && s.news(record).Any() && s.wasReady():
		return s.asked.Mark(s.news(record), s.resource.GetGeneration()), true
	}
	return "", false
}

// failedBefore reports whether the resource is already not ready for the same reason as an error.
func (s *scope) failedBefore(err error) bool {
	ready := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionFalse && ready.Reason == problem.Of(err, nil, "").Reason
}

// wasReady reports whether the resource was ready when the reconcile began.
func (s *scope) wasReady() bool {
	return meta.IsStatusConditionTrue(s.previous.Conditions, v1.ConditionReady)
}

// tellUnfit emits an event and logs once that a resource cannot be rendered with a new chart or new defaults.
func (r *Reconciler) tellUnfit(ctx context.Context, s *scope, news fleet.Parts, err error) {
	unfit := unfit{what: s.asked.String(news), message: unnamed(news, err).Error()}
	if s.memory.unfit == unfit {
		return
	}
	s.memory.unfit = unfit
	reason := problem.Of(err, nil, "").Reason
	log.FromContext(ctx).Info("what is new cannot be rendered for a resource, which keeps its release", "new", unfit.what, "reason", reason, "message", unfit.message)
	r.event(s, corev1.EventTypeWarning, reason, fmt.Sprintf("%s cannot be rendered, the release before stays: %s", unfit.what, unfit.message))
}

// stand reports to the gates how the resource fares with what is new, and then leaves the queue, unless it waits or is rolling out: a resource
// that fails closes the gate before another one takes its place.
func (r *Reconciler) stand(s *scope, done action, current *v1.AppServiceStatus) {
	moving := meta.IsStatusConditionTrue(current.Conditions, v1.ConditionReconciling)
	begun := s.begun(done.there.Record)
	stalled := meta.IsStatusConditionTrue(current.Conditions, v1.ConditionStalled)
	answers := s.asked.Answers(done.there.Record, s.resource.GetGeneration())
	s.standing.chart.Failed, s.standing.defaults.Failed = answers.Chart && stalled, answers.Defaults && stalled
	r.Gates.Note(s.asked, s.name(), s.standing.chart, s.standing.defaults)
	switch {
	case done.waits():
	case !moving:
		r.Rollouts.End(r.candidate(s.name()))
	case begun: // before a restart, perhaps
		r.Rollouts.Begin(r.candidate(s.name()))
	}
}

// waits reports whether the resource keeps the recorded release for now, though its user did not ask for that.
func (a action) waits() bool { return a.turn.Waits || a.hold.Closed() || a.unfit != nil }

// why returns what a resource waits for, and what its user can do about it, if anything.
func (a action) why(s *scope) (waits status.Waits) {
	if !a.waits() {
		return waits
	}
	news := s.news(a.there.Record)
	what, comes := "a new chart", "a new chart or operator"
	if news.Defaults && !news.Chart {
		what, comes = "a change of defaults", "a change of defaults"
		waits.Hint = "correct ConfigMap " + defaults.Name + " in this namespace, or take the change back; what runs is kept as it is until then"
	}
	switch {
	case a.unfit != nil:
		waits.Short = what + " is held back"
		waits.Message = fmt.Sprintf("%s is held back, because it cannot be rendered for this resource: %v", s.asked.String(news), unnamed(news, a.unfit))
	case a.hold.Closed():
		waits.Short, waits.Message = what+" is held back", a.hold.Message
	default:
		waits.Short = fmt.Sprintf("%s waits for its turn: %s", comes, a.turn)
		waits.Message, waits.Hint = fmt.Sprintf("%s waits for its turn, until other resources have changed: %s", comes, a.turn), ""
	}
	return waits
}

// unnamed returns an error without the name of the defaults that it comes from, if nothing but defaults is new.
func unnamed(news fleet.Parts, err error) error {
	var culprit *defaults.Error
	if !news.Chart && errors.As(err, &culprit) && culprit.Source == defaults.ByNamespace {
		return culprit.Err
	}
	return err
}

// recorded returns the objects of the recorded release, by which a resource that waits is judged: those that its status lists, if they
// exist. Missing ones were created again.
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

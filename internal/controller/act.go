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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/fleet"
	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/problem"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/rights"
)

// action is what a reconcile did for a resource.
type action struct {
	// state that required the action; empty if nothing was decided.
	state release.State
	// plan that was carried out; nil if nothing was decided.
	plan *release.Plan
	// changes is a summary in words of what this action changed, or the one whose record it wrote.
	changes string
	// there is the state of the cluster after the action.
	there *cluster.Snapshot
	// unrecorded is a release whose objects are written but whose record is not. Nothing is reported until it is.
	unrecorded *unrecorded
	// repaired is the plan that was written to repair the recorded release; nil if there was none.
	repaired *release.Plan
	// turn says whether the action has to wait for other rollouts.
	turn fleet.Turn
	// hold says why a new chart, or new defaults, may not change the resource yet.
	hold fleet.Hold
	// unfit is the error of rendering the resource with them, if it could be rendered before.
	unfit error
	took  time.Duration
	// err says why the objects are not as rendered.
	err error
}

// acted reports whether anything had to be written.
func (a action) acted() bool { return a.state != "" && a.state != release.InSync && !a.waits() }

// released reports whether a new release was made.
func (a action) released() bool {
	return !a.waits() && (a.state == release.Absent || a.state == release.OutOfDate)
}

// act brings objects and record to the rendered state. Objects are written first, in a reconcile of their own, even if the record
// cannot be written afterwards.
func (r *Reconciler) act(ctx context.Context, s *scope, wanted rendering, there *cluster.Snapshot) action {
	began := r.Clock.Now()
	desired, plan, err := r.compare(ctx, s, wanted, there)
	if err != nil {
		return action{there: there, err: err}
	}
	a := action{state: release.Decide(wanted.outline.Digest, there, plan), plan: plan, there: there, changes: plan.String()}
	if a.state == release.InSync {
		return a
	}
	pending := s.memory.unrecorded
	if pending != nil && pending.digest != wanted.outline.Digest {
		pending = nil // the spec has moved on: the next record covers it
	}
	if a.turn, a.hold = r.turn(s, wanted, a); a.waits() {
		news := s.news(there.Record)
		s.standing.chart.Waits, s.standing.defaults.Waits = news.Chart, news.Defaults
		if !s.begun(there.Record) {
			a.plan = nil // nothing of it was carried out
		}
		return a
	}
	task := release.Task{Owner: s.resource, Chart: s.renderer.Chart, Desired: desired, Snapshot: there, Plan: plan, State: a.state, Again: tried(s), First: first(s, a), Labels: s.asked.Labels()}
	if content := wanted.content.String(); content != "" {
		task.Labels[v1.LabelReferences] = content
	}
	mark, isNew := s.mark(a.state, plan, there.Record)
	if mark != "" {
		task.Labels[v1.LabelRollout] = mark
	}
	if isNew {
		if a.err = r.Actor.Mark(ctx, s.resource, there.Record, map[string]string{v1.LabelRollout: mark}); a.err != nil {
			return a
		}
	}
	var created []client.Object
	if !plan.Empty() {
		var taken []kube.Key
		created, taken, a.err = r.write(ctx, s, wanted, task)
		a.changes = plan.Adopting(taken).String()
		if a.there, err = r.observe(ctx, s, wanted); err != nil {
			a.there, a.err = there, errors.Join(a.err, err)
		}
	}
	a.took = r.Clock.Since(began)
	if a.err != nil || !release.ActionOf(a.state).Records {
		return a
	}
	if pending == nil && !plan.Empty() {
		for i := range created {
			created[i] = kube.Remembered(created[i])
		}
		a.unrecorded = &unrecorded{digest: desired.Digest, state: a.state, changes: a.changes, created: created, whole: len(created) == len(desired.Objects), took: a.took}
		return a
	}
	return r.record(ctx, s, wanted, task, a, pending)
}

// turn returns whether the action has to wait. It waits only if the operator itself causes it: any change by a new chart waits for its
// turn, and so do rollouts that anything else causes.
func (r *Reconciler) turn(s *scope, wanted rendering, a action) (fleet.Turn, fleet.Hold) {
	begun := s.begun(a.there.Record)
	byUser := !deployed(s) && !begun || s.memory.settled != (surroundings{}) && s.memory.settled == wanted.inputs.surroundings
	if a.state != release.OutOfDate || byUser || a.plan.Empty() {
		return fleet.Turn{}, fleet.Hold{}
	}
	news := s.news(a.there.Record)
	if !news.Any() && !a.plan.RollsPods() {
		return fleet.Turn{}, fleet.Hold{}
	}
	turn := r.Rollouts.Begin(r.candidate(s.name()))
	if turn.Waits || !news.Any() || begun {
		return turn, fleet.Hold{}
	}
	hold := r.Gates.Hold(s.asked, news, s.name()) // again: a resource that failed meanwhile has freed its place
	if hold.Closed() {
		r.Rollouts.End(r.candidate(s.name()))
	}
	return turn, hold
}

// deployed reports whether the current spec was ever deployed. If it was not, its owner is waiting for it, and the objects do not match
// the spec: the resource must neither be held back nor be reported as ready.
func deployed(s *scope) bool {
	condition := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionDeployed)
	return condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == s.resource.GetGeneration()
}

func (r *Reconciler) candidate(name types.NamespacedName) fleet.Candidate {
	return fleet.Candidate{GroupKind: r.Kind.GroupKind(), NamespacedName: name}
}

// tried reports whether an attempt has failed before: in this process or, if the spec was refused, in an earlier one.
func tried(s *scope) bool {
	ready := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionReady)
	return s.memory.backoff.Failed() || ready != nil && (ready.Reason == v1.ReasonResourceExists || ready.Reason == v1.ReasonInstallFailed)
}

// first reports whether nothing of a resource was ever released: its objects were left by an attempt that failed. A release without a
// record is mentioned in the status, or its record is about to be written, or cannot be written.
func first(s *scope, a action) bool {
	spoken := s.previous.Release != nil || s.previous.AvailableReplicas > 0 || s.memory.unrecorded != nil
	return a.state == release.Absent || len(a.there.Records) == 0 && !spoken
}

// reported reports whether a status was ever written. If it was and no objects are left, the resource may be about to be deleted, too.
func reported(s *scope) bool { return len(s.previous.Conditions) > 0 }

// record writes the record of a release whose objects are as rendered. It completes the action that wrote them, if this process did.
func (r *Reconciler) record(ctx context.Context, s *scope, wanted rendering, task release.Task, a action, pending *unrecorded) action {
	began := r.Clock.Now()
	var created []client.Object
	if pending != nil {
		created = pending.created
		a.state, a.changes, a.took = pending.state, pending.changes, a.took+pending.took
	}
	task.Snapshot = a.there
	// If this process wrote the release as a whole, and found nothing there, there is no record of others.
	if release.AdoptionOf(s.resource) != nil || a.there.Record == nil && (pending == nil || !pending.whole) {
		var stays []string
		stays, a.err = r.Actor.Inherit(ctx, task)
		r.recordLeftOver(ctx, s, stays)
	}
	if a.err == nil {
		a.err = r.Actor.Record(ctx, task, created)
	}
	there, err := r.observe(ctx, s, wanted)
	if err != nil {
		a.err = errors.Join(a.err, err)
	} else {
		a.there = there
	}
	a.took += r.Clock.Since(began)
	return a
}

// compare returns the desired objects and the plan that leads to them. If neither objects nor release have changed, nothing is compared
// and the desired objects are nil.
func (r *Reconciler) compare(ctx context.Context, s *scope, wanted rendering, there *cluster.Snapshot) (*render.Result, *release.Plan, error) {
	nothing := &release.Plan{}
	digest := wanted.outline.Digest
	if release.Decide(digest, there, nothing) == release.InSync && s.memory.verified.Covers(digest, there.Objects) {
		s.memory.verified = release.Verify(digest, there.Objects) // drops what the caches no longer hold
		return nil, nothing, nil
	}
	desired, err := wanted.packed.Unpack()
	if err != nil {
		return nil, nil, err
	}
	plan := s.memory.verified.Compare(desired.Objects, there.Objects)
	if err := r.Actor.SpareAdmitted(ctx, plan); err != nil {
		return nil, nil, err
	}
	plan.HoldBack(keysOf(wanted.held)...)
	plan.HoldBack(wanted.outline.Unserved...) // a cluster that no longer serves a kind has deleted its objects; one that has just begun to may not report it
	if plan.Empty() && len(plan.Going) == 0 && len(wanted.held) == 0 {
		r.Observer.Verified(s.resource.GetUID(), there)
		s.memory.verified = release.Verify(digest, there.Objects)
	}
	return desired, plan, nil
}

// write carries out a plan, and returns the objects that it created and those that it took over from other owners.
func (r *Reconciler) write(ctx context.Context, s *scope, wanted rendering, task release.Task) (created []client.Object, taken []kube.Key, err error) {
	if (task.State != release.Absent || reported(s)) && len(task.Plan.Create) > 0 {
		if err := r.alive(ctx, s); err != nil {
			return nil, nil, err
		}
	}
	if err := r.ensureFinalizer(ctx, s, wanted); err != nil {
		return nil, nil, err
	}
	task.Plan, taken, err = r.Actor.Adopt(ctx, task)
	r.recordAdoption(ctx, s, taken)
	if err != nil {
		return nil, taken, err
	}
	created, err = r.Actor.Write(ctx, task)
	return created, taken, err
}

// keepAlive repairs the recorded release while the rendered one is refused or waits. Once the rendered one was planned, it may have deleted
// objects that it lacks: then only the objects of both are repaired. The same applies if a right is missing, which proves nothing about the
// release: rights can be removed at any time, and an API server that is starting refuses every request for a moment.
func (r *Reconciler) keepAlive(ctx context.Context, s *scope, wanted rendering, a action) action {
	record := a.there.Record
	refused := a.err != nil && problem.Blocked(a.err)
	if !refused && !a.waits() || record == nil || wanted.rendered != nil && record.Digest == wanted.outline.Digest ||
		s.memory.verified.CoversLastGood(record.Digest, a.there.Objects) {
		return a
	}
	if err := r.alive(ctx, s); err != nil {
		return a // it is about to be deleted: nothing may be created again
	}
	plan, there, err := r.lastGood(ctx, s, wanted, a)
	if err == nil {
		a.there = there
		err = r.Actor.KeepAlive(ctx, s.resource, plan)
	}
	switch {
	case err != nil && refused:
		a.err = &problem.DecayingError{Refusal: a.err, Err: err}
		return a
	case err != nil:
		a.err = fmt.Errorf("what runs is not repaired: %w", err)
		return a
	}
	if plan.Empty() {
		if len(plan.Going) == 0 && a.plan == nil {
			s.memory.verified = release.VerifyLastGood(record.Digest, a.there.Objects)
		}
		return a
	}
	a.repaired = plan
	there, err = r.observe(ctx, s, wanted)
	if err != nil {
		a.err = errors.Join(a.err, err)
		return a
	}
	a.there = there
	return a
}

// lastGood returns the plan that restores the recorded release, and the objects in the cluster. Routes that another resource serves by now
// are left out.
func (r *Reconciler) lastGood(ctx context.Context, s *scope, wanted rendering, a action) (*release.Plan, *cluster.Snapshot, error) {
	objects, err := r.Actor.LastGood(ctx, s.resource, a.there.Record)
	if err != nil {
		return nil, nil, err
	}
	// The chart in use, if any, may name other kinds than that of the release. Nothing is known of a kind that cannot be watched.
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return r.Tracker.Ensure(ctx, o.GroupVersionKind()) != nil })
	there, err := r.observe(ctx, s, wanted)
	if err != nil {
		return nil, nil, err
	}
	var missing *rights.MissingError
	if next := cmp.Or(wanted.rendered, s.memory.rendered); next != nil && (a.plan != nil || errors.As(a.err, &missing)) {
		objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return !slices.Contains(next.outline.Keys, kube.KeyOf(o)) })
	}
	plan := release.CompareLastGood(objects, there.Objects)
	if err := r.Actor.SpareAdmitted(ctx, plan); err != nil {
		return nil, nil, err
	}
	held, err := r.Hosts.Settle(ctx, s.resource, hosts.WantedBy(objects), there.Objects)
	plan.HoldBack(keysOf(held)...)
	return plan, there, err
}

func keysOf(held []hosts.Held) []kube.Key {
	keys := make([]kube.Key, 0, len(held))
	for _, route := range held {
		keys = append(keys, route.Key)
	}
	return keys
}

// observe returns the objects that exist for a resource. Payloads that the caches do not hold are read for rendered objects only: anyone
// can create an object that appears to be the resource's.
func (r *Reconciler) observe(ctx context.Context, s *scope, wanted rendering) (*cluster.Snapshot, error) {
	var keys []kube.Key
	if wanted.rendered != nil {
		keys = wanted.outline.Keys
	}
	return r.Observer.Snapshot(ctx, s.resource, keys)
}

// alive checks with the API server that the resource still exists before anything is created again for it. When the garbage collector
// deletes the objects of a resource, informers may show that before they show that the resource is gone.
func (r *Reconciler) alive(ctx context.Context, s *scope) error {
	live := kube.Metadata(r.Kind)
	err := r.Live.Get(ctx, s.name(), live)
	switch {
	case apierrors.IsNotFound(err), err == nil && (live.UID != s.resource.GetUID() || live.DeletionTimestamp != nil):
		return &release.StaleError{Err: errors.New("the resource is gone")}
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", r.Kind.Kind, err)
	}
	return nil
}

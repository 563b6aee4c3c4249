package controller

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/hosts"
)

// act brings objects and record to the rendered state. A release is recorded after its objects are written, which then
// show by their stamps that it was applied, if only in part. One that only deletes objects is recorded first.
func (r *Reconciler) act(ctx context.Context, s *scope, wanted rendering, found attempt) (*scope, attempt) {
	observed := found.observed
	desired, writes, left, err := r.compare(ctx, s, wanted, observed)
	if err != nil {
		return s, attempt{observed: observed, err: err}
	}
	a := attempt{state: plan.Decide(wanted.outline.Digest, observed, writes), plan: writes, observed: observed,
		hold: found.hold, contended: cmp.Or(left.lost, left.contended), decayed: left.disordered}
	if refused := plan.KeepsKind(writes.Create, writes.Delete); refused != nil {
		a.err = refused
		return s, a
	}
	if a.state != plan.Drifted {
		if lost, err := r.lost(ctx, s, writes, observed.Record); err != nil || lost != nil {
			a.err = cmp.Or(err, error(lost))
			return s, a
		}
	}
	a.changes = writes.String()
	if a.state == plan.InSync {
		return s, a
	}
	rollout, may, err := r.begin(ctx, s, a)
	if a.err = err; err != nil {
		return s, a
	}
	if !may {
		a.hold, a.plan = hold{by: byLine}, nil // nothing of it is carried out
		return s, a
	}
	task := release.Task{Owner: s.resource, Chart: s.renderer.Chart, Desired: desired, Snapshot: observed, Plan: writes,
		State: a.state, Again: tried(s), First: first(s, a), Labels: s.basis.Labels()}
	task.Labels[v1.LabelLastReady] = s.lastReady(observed)
	if content := wanted.content.String(); content != "" {
		task.Labels[v1.LabelReferences] = content
	}
	if rollout != nil {
		task.Labels[v1.LabelRollout] = rollout.String()
	}
	if a.hold.by == byStage {
		return r.actBefore(ctx, s, wanted, task, a)
	}
	s, a = r.commit(ctx, s, wanted, task, a)
	if a.err == nil && a.state == plan.Drifted {
		r.noteRepairs(s, writes)
	}
	return s, a
}

// first reports whether nothing of a resource was ever released: its objects were left by an attempt that failed. A
// release without a record is mentioned in the status.
func first(s *scope, a attempt) bool {
	spoken := s.previous.Release != nil || len(s.previous.Runs) > 0 || s.previous.AvailableReplicas > 0
	return a.state == plan.Absent || len(a.observed.Records) == 0 && !spoken
}

// compare returns the desired objects, the plan that leads to them, and what a repair leaves as it is. If neither
// objects nor release have changed, nothing is compared and the desired objects are nil.
func (r *Reconciler) compare(ctx context.Context, s *scope, wanted rendering,
	observed *livestate.Snapshot) (desired *render.Result, writes *plan.Plan, left unrepaired, err error) {
	nothing := &plan.Plan{}
	digest := wanted.outline.Digest
	if plan.Decide(digest, observed, nothing) == plan.InSync && s.memory.verified.Covers(digest, observed.Objects) {
		s.memory.verified = plan.Verify(digest, observed.Objects) // drops what the caches no longer hold
		return nil, nothing, left, nil
	}
	if desired, err = wanted.packed.Unpack(); err != nil {
		return nil, nil, left, err
	}
	writes = s.memory.verified.Compare(desired.Objects, observed.Objects)
	if err := r.Actor.SpareAdmitted(ctx, s.resource, writes); err != nil {
		return nil, nil, left, err
	}
	if err := r.keepData(ctx, s, wanted, writes, observed); err != nil {
		return nil, nil, left, err
	}
	writes.HoldBack(keysOf(wanted.heldRoutes)...)
	// a cluster that no longer serves a kind has deleted its objects; one that has just begun to may not report it
	writes.HoldBack(wanted.outline.Unserved...)
	if plan.IsDeployed(observed.Record, digest) {
		if left, err = r.spareUnrepaired(ctx, s, writes, observed); err != nil {
			return nil, nil, left, err
		}
	}
	if writes.Empty() && len(writes.Terminating) == 0 && len(wanted.heldRoutes) == 0 && left.nothing() {
		s.memory.verified = plan.Verify(digest, observed.Objects)
	}
	return desired, writes, left, nil
}

// keepData leaves objects in place that hold data, unless a release no longer has them because its spec has changed: no
// repair, chart, defaults or operator, and no return to an earlier release, deletes them; nor does one that follows no
// known release. Objects that a spec refers to stay, and so do those of the release to which this one would return.
func (r *Reconciler) keepData(ctx context.Context, s *scope, wanted rendering, writes *plan.Plan,
	observed *livestate.Snapshot) error {
	record := observed.Record
	if !writes.DeletesData() {
		return nil
	}
	writes.HoldBack(referredTo(wanted.references)...)
	if record != nil && !deployed(s) && !plan.IsDeployed(record, wanted.outline.Digest) && !s.basis.New(record).Any() &&
		(record.ReturnedFrom == "" || !s.hasTried(parseTrial(record.ReturnedFrom))) {
		recorded, err := r.readRecorded(ctx, s, record)
		switch {
		case isStale(err):
			return err
		case err == nil && (recorded.Source == nil || recorded.Source.Differs(s.resource.Object["spec"])):
			return r.keepForReturn(ctx, s, writes, observed)
		}
	}
	writes.KeepData()
	return nil
}

// keepForReturn leaves the data in place of the release that is applied again if this one fails.
func (r *Reconciler) keepForReturn(ctx context.Context, s *scope, writes *plan.Plan,
	observed *livestate.Snapshot) error {
	ready := s.ready(observed)
	if !r.returns(s) || ready == nil || !writes.DeletesData() {
		return nil
	}
	content, err := r.readRecorded(ctx, s, ready)
	switch {
	case isStale(err):
		return err
	case err != nil:
		writes.KeepData()
	default:
		has := slices.Collect(maps.Keys(kube.ByKey(content.Objects)))
		writes.KeepData(append(has, referredTo(reference.Of(content.Objects))...)...)
	}
	return nil
}

// referredTo returns the keys of what references name.
func referredTo(references []reference.Reference) (keys []kube.Key) {
	for _, needed := range references {
		keys = append(keys, kube.Key{GroupKind: schema.GroupKind{Kind: needed.Kind}, Name: needed.Name})
	}
	return keys
}

func keysOf(held []hosts.HeldRoute) []kube.Key {
	keys := make([]kube.Key, 0, len(held))
	for _, route := range held {
		keys = append(keys, route.Key)
	}
	return keys
}

// actBefore writes the stage `before` of a release, and the missing objects that it needs. Until its Jobs are noted,
// the whole release is tried first: nothing runs for one that is refused.
func (r *Reconciler) actBefore(ctx context.Context, s *scope, wanted rendering, task release.Task,
	a attempt) (*scope, attempt) {
	all, early := task.Plan, a.hold.early
	a.plan, a.changes = nil, ""
	if !s.notes(wanted.jobsIn(stage.Before)) || release.AdoptionOf(s.resource) != nil {
		adopted, err := r.Actor.ProveAdoption(ctx, task)
		if a.err = err; err != nil {
			return s, a
		}
		early = slices.DeleteFunc(slices.Clone(early), func(key kube.Key) bool { return slices.Contains(adopted, key) })
	}
	task.Plan = all.Only(a.hold.before, early)
	if task.Plan.Empty() {
		return s, a
	}
	task.Part = true
	return r.commit(ctx, s, wanted, task, a)
}

package controller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/operator/hosts"
)

// keepAlive repairs the recorded release while the rendered one is refused or waits.
func (r *Reconciler) keepAlive(ctx context.Context, s *scope, wanted rendering, a attempt) attempt {
	record := a.observed.Record
	refused := a.err != nil && isBlocked(a.err)
	if !refused && !a.waits() || record == nil || wanted.rendered != nil && record.Digest == wanted.outline.Digest ||
		s.memory.verified.Covers(record.Digest, a.observed.Objects) {
		return a
	}
	writes, left, err := r.planRepair(ctx, s, record, a)
	if err == nil {
		a.decayed, a.contended = cmp.Or(a.decayed, left.lost, left.disordered), left.contended
		if writes.Empty() {
			return a
		}
		task := release.Task{Owner: s.resource, Snapshot: a.observed, Plan: writes, State: plan.Drifted, Kept: true}
		_, repair := r.commit(ctx, s, wanted, task, attempt{observed: a.observed})
		a.observed, err = repair.observed, repair.err
	}
	switch {
	case err != nil && refused && err.Error() == a.err.Error(): // both need the record, which cannot be read
		return a
	case err != nil && refused:
		a.err = &decayingError{Refusal: a.err, Err: err}
		return a
	case err != nil:
		a.err = fmt.Errorf("the running release cannot be repaired: %w", err)
		return a.decays()
	case writes.Restamps():
		a.resumed = true
		log.FromContext(ctx).Info("an earlier release was applied again", "revision", record.Revision, "changes",
			writes.String())
	default:
		r.noteRepairs(s, writes)
		r.emitRepair(ctx, s, writes)
	}
	return a
}

// planRepair returns the plan that repairs the recorded release. Routes that another resource serves by now are left
// out, and so is a stage `before` that was written since.
func (r *Reconciler) planRepair(ctx context.Context, s *scope, record *livestate.Record,
	a attempt) (writes *plan.Plan, left unrepaired, err error) {
	recorded, err := r.readRecorded(ctx, s, record)
	if err != nil {
		return nil, left, err
	}
	objects := slices.Clone(recorded.Objects)
	// Nothing is known of a kind that cannot be watched.
	all := len(objects)
	objects = slices.DeleteFunc(objects,
		func(o *unstructured.Unstructured) bool { return r.Tracker.Ensure(ctx, o.GroupVersionKind()) != nil })
	observed := a.observed
	if err := r.complete(ctx, s, observed, slices.Collect(maps.Keys(kube.ByKey(objects)))); err != nil {
		return nil, left, err
	}
	compare := plan.CompareLastGood
	if a.waits() && record.ReturnedFrom != "" { // no other release was applied since
		compare = plan.CompareReturned
	}
	var complete bool
	writes, complete = compare(objects, observed.Objects)
	if a.hold.by == byStage {
		writes.HoldBack(slices.Concat(a.hold.before, a.hold.early)...)
		writes.Delete = nil
	}
	if err := r.Actor.SpareAdmitted(ctx, s.resource, writes); err != nil {
		return nil, left, err
	}
	held, err := r.Hosts.Settle(ctx, s.resource, hosts.RequestedBy(objects), observed.Objects)
	if err != nil {
		return nil, left, err
	}
	writes.HoldBack(keysOf(held)...)
	if left, err = r.spareUnrepaired(ctx, s, writes, observed); err != nil {
		return nil, left, err
	}
	asRecorded := complete && len(objects) == all && writes.Empty() && len(writes.Terminating) == 0
	if asRecorded && len(held) == 0 && left.nothing() {
		s.memory.verified = plan.Verify(record.Digest, observed.Objects)
	}
	return writes, left, nil
}

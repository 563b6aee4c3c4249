package controller

import (
	"context"

	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// unrepaired names differences from the release that a repair leaves as they are; nil for none.
type unrepaired struct {
	// contended is a release.ContendedError, and lost a release.GeneratedLostError.
	contended, lost error
	// disordered is about a list that is left in the order that it had before the operator restored that.
	disordered error
}

func (u unrepaired) nothing() bool { return u == unrepaired{} }

// spareUnrepaired removes from a plan of repairs the differences that a repair leaves as they are.
func (r *Reconciler) spareUnrepaired(ctx context.Context, s *scope, plan *plan.Plan,
	observed *livestate.Snapshot) (left unrepaired, err error) {
	if left.disordered, err = r.keepOrder(ctx, s, plan, observed.Record); err != nil {
		return left, err
	}
	lost, err := r.lost(ctx, s, plan, observed.Record)
	if err != nil {
		return left, err
	}
	if lost != nil {
		plan.HoldBack(lost.Keys...)
		left.lost = lost
	}
	left.contended = r.spareContended(ctx, s, plan, observed)
	return left, nil
}

// keepOrder leaves lists in the order that they had before the operator restored that: no upgrade restarts their pods.
// Disordered is about one of them; nil if there is none.
func (r *Reconciler) keepOrder(ctx context.Context, s *scope, plan *plan.Plan,
	record *livestate.Record) (disordered, err error) {
	found := plan.Disordered()
	if found == nil {
		return nil, nil
	}
	recorded, err := r.readRecorded(ctx, s, record)
	if err != nil || recorded.KnowsOrder() {
		return nil, err
	}
	plan.KeepOrder()
	return found, nil
}

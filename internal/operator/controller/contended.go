package controller

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// spareContended leaves out of a plan of repairs the fields that other writers change each time they are restored,
// until they may be restored again. The error is a release.ContendedError about the field that waits longest; nil if
// nothing does.
func (r *Reconciler) spareContended(ctx context.Context, s *scope, plan *plan.Plan,
	observed *livestate.Snapshot) error {
	now := r.Clock.Now()
	var longest *release.ContendedError
	repairs := plan.Repairs()
	for _, key := range slices.SortedFunc(maps.Keys(repairs), kube.Key.Compare) {
		field := repairs[key]
		known := s.memory.contests[field]
		if known == nil || known.Wait(now) == 0 {
			continue
		}
		plan.HoldBack(key)
		switch object := observed.Objects[key]; {
		case object == nil:
			known.by = "another writer" // it has deleted the object
		case known.by == "":
			known.by, known.remedy = r.Actor.OtherWriter(ctx, object, strings.TrimPrefix(field, key.String()+": "))
		}
		if longest == nil || known.Wait(now) > longest.Wait {
			longest = &release.ContendedError{Field: field, By: known.by, Remedy: known.remedy, Every: known.Every(),
				Wait: known.Wait(now)}
		}
	}
	if longest == nil {
		return nil
	}
	return longest
}

// noteRepairs remembers the fields that a plan has restored, and forgets those that stay as they were restored.
func (r *Reconciler) noteRepairs(s *scope, plan *plan.Plan) {
	now := r.Clock.Now()
	if s.memory.contests == nil {
		s.memory.contests = map[string]*contest{}
	}
	maps.DeleteFunc(s.memory.contests, func(_ string, known *contest) bool { return known.Over(now) })
	for _, field := range plan.Repairs() {
		next := contest{}
		if known := s.memory.contests[field]; known != nil {
			next.repairPace = known.repairPace
		}
		next.Repaired(now)
		s.memory.contests[field] = &next // who changes it now is not known
	}
}

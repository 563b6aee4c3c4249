package controller

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// commit carries out a task: a whole release, its stage `before`, a repair, a restart or a return. In this order, the
// resource is looked for if anything is created; objects of other owners are taken over; objects are written; runs of
// Jobs are noted, and the scope returned has them; the release is recorded; the cluster is observed. A release that
// creates and changes nothing is recorded first.
func (r *Reconciler) commit(ctx context.Context, s *scope, wanted rendering, task release.Task,
	a attempt) (*scope, attempt) {
	began := r.Clock.Now()
	records := plan.ActionOf(task.State).Records && !task.Part
	recordFirst := records && task.Plan.OnlyDeletes()
	if recordFirst {
		s, a.err = r.record(ctx, s, wanted, task, a, nil)
	}
	var created []client.Object
	if a.err == nil && !task.Plan.Empty() {
		var taken []kube.Key
		created, taken, a.err = r.write(ctx, s, wanted, task)
		a.changes = task.Plan.Adopting(taken).String()
	}
	if a.err == nil && records && !recordFirst {
		s, a.err = r.record(ctx, s, wanted, task, a, created)
	}
	if observed, err := r.observe(ctx, s, wanted, a.observed); err != nil {
		a.err = errors.Join(a.err, err)
	} else {
		a.observed = observed
	}
	a.took = r.Clock.Since(began)
	return s, a
}

// record writes the record of a release whose objects are as rendered. Created are those that were just created: if
// they are all, and nothing was there before, there is no record of others.
func (r *Reconciler) record(ctx context.Context, s *scope, wanted rendering, task release.Task, a attempt,
	created []client.Object) (*scope, error) {
	if task.Kept {
		return s, r.Actor.Record(ctx, task, nil)
	}
	if a.observed.Record == nil && reported(s) {
		if err := r.alive(ctx, s); err != nil {
			return s, err // what it leaves may be another's by now
		}
	}
	begun, _ := r.begunJobs(ctx, s, wanted, a)
	s, noted := r.runJobs(ctx, s, wanted, a)
	if !s.notes(begun) {
		return s, noted.err // the record says what has run
	}
	task.Owner = s.resource
	task.Runs = append([]v1.RunStatus{}, s.previous.Runs...) // also if nothing has run yet
	if release.AdoptionOf(s.resource) != nil || task.Snapshot.Record == nil && len(created) < len(task.Desired.Objects) {
		stays, err := r.Actor.Inherit(ctx, task)
		r.emitLeftOver(ctx, s, stays)
		if err != nil {
			return s, err
		}
	}
	return s, r.Actor.Record(ctx, task, created)
}

// write carries out a plan, and returns the objects that it created and those that it took over from other owners.
func (r *Reconciler) write(ctx context.Context, s *scope, wanted rendering,
	task release.Task) (created []client.Object, taken []kube.Key, err error) {
	if (task.State != plan.Absent || reported(s)) && len(task.Plan.Create) > 0 {
		if err := r.alive(ctx, s); err != nil {
			return nil, nil, err
		}
	}
	if !task.Kept {
		if err := r.ensureFinalizer(ctx, s, wanted); err != nil {
			return nil, nil, err
		}
		task.Plan, taken, err = r.Actor.Adopt(ctx, task)
		r.emitAdoption(ctx, s, taken)
		if err != nil {
			return nil, taken, err
		}
	}
	created, err = r.Actor.Write(ctx, task)
	return created, taken, err
}

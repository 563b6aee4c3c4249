package release

import (
	"context"
	"errors"

	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/render"
)

// Actor carries out the actions for the resources of one kind. It is safe for concurrent use on different resources.
type Actor struct {
	records *records
	applier *applier
}

// Options are what an Actor needs.
type Options struct {
	Secrets  typedcorev1.SecretsGetter // writes release records
	Client   client.Client             // writes everything else
	Live     client.Reader             // reads past the caches
	Observer *cluster.Observer
	Chart    *chart.Chart
}

// NewActor makes an actor.
func NewActor(o Options) *Actor {
	return &Actor{
		records: &records{chart: skeleton(o.Chart), secrets: o.Secrets, client: o.Client, live: o.Live, observer: o.Observer},
		applier: &applier{client: o.Client, live: o.Live, observer: o.Observer},
	}
}

// Task is one resource and what Decide was told about it.
type Task struct {
	Owner    *unstructured.Unstructured
	Desired  *render.Result
	Snapshot *cluster.Snapshot
	Plan     *Plan
	State    State
	// Again says that an earlier attempt failed: what stands in the way is looked for before anything is written.
	Again bool
}

// Write carries out the plan of a task. The error is a NotOursError, a PreviousError, a RefusedError, a StaleError or the API
// server's.
func (a *Actor) Write(ctx context.Context, task Task) error {
	defer a.applier.observer.Begin(task.Owner.GetUID())()
	if task.Again {
		plan, err := a.applier.check(ctx, task.Owner, task.Plan)
		if err != nil {
			return err
		}
		task.Plan = plan
	}
	switch task.State {
	case Absent:
		return a.install(ctx, task)
	case OutOfDate:
		return a.upgrade(ctx, task)
	}
	return a.applier.execute(ctx, task.Owner, task.Plan)
}

// Record records the release of a task whose objects are as rendered. The error is a NotOursError, a PreviousError, a
// DamagedError, a StaleError or the API server's.
func (a *Actor) Record(ctx context.Context, task Task) error {
	defer a.applier.observer.Begin(task.Owner.GetUID())()
	revision := 1
	if newest := task.Snapshot.Record; newest != nil {
		revision = newest.Revision
	}
	switch task.State {
	case Absent:
		err := a.records.add(ctx, task, revision)
		return a.undoUnlessOurs(ctx, task, err)
	case OutOfDate:
		revision++
		if err := a.records.add(ctx, task, revision); err != nil {
			return err
		}
	case Unfinished:
		if err := a.records.mark(task, revision, helmrelease.StatusDeployed, "Resumed after an interruption"); err != nil {
			return err
		}
	default:
		return nil
	}
	return a.records.retire(ctx, task, revision)
}

// install writes all objects. Where the name of one of them, or of the release, is somebody else's, nothing stays.
func (a *Actor) install(ctx context.Context, task Task) error {
	if err := fits(task.Desired); err != nil {
		return err
	}
	if task.Again {
		if err := a.records.free(ctx, task); err != nil {
			return err
		}
	}
	err := a.applier.execute(ctx, task.Owner, task.Plan)
	return a.undoUnlessOurs(ctx, task, err)
}

// undoUnlessOurs deletes what an install created where it turned out that a name is somebody else's.
func (a *Actor) undoUnlessOurs(ctx context.Context, task Task, err error) error {
	var notOurs *NotOursError
	if errors.As(err, &notOurs) {
		return errors.Join(err, a.applier.undo(ctx, task.Owner, task.Desired.Objects))
	}
	return err
}

// upgrade writes what the next release changes. What the API server would refuse it refuses in a dry run, before anything is
// written; the write of a single object is its own.
func (a *Actor) upgrade(ctx context.Context, task Task) error {
	if err := fits(task.Desired); err != nil {
		return err
	}
	if err := a.applier.dryRun(ctx, task.Owner, task.Plan); err != nil {
		return err
	}
	return a.applier.execute(ctx, task.Owner, task.Plan)
}

// Delete carries out the deletions of a plan for a resource that is going itself. No record is kept.
func (a *Actor) Delete(ctx context.Context, owner client.Object, plan *Plan) error {
	defer a.applier.observer.Begin(owner.GetUID())()
	return a.applier.execute(ctx, owner, &Plan{Delete: plan.Delete})
}

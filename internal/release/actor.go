package release

import (
	"context"
	"errors"
	"fmt"

	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/observe"
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
	Observer *observe.Observer
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
	Snapshot *observe.Snapshot
	Plan     *Plan
	State    State
	// Again says that an earlier attempt failed: what stands in the way is looked for before anything is written.
	Again bool
}

// Act carries out the action of the task's state. In sync nothing is called. The error is a NotOursError, a PreviousError, a
// DamagedError, a RefusedError, a StaleError or the API server's.
func (a *Actor) Act(ctx context.Context, task Task) error {
	if task.State == InSync {
		return nil
	}
	defer a.applier.observer.Begin(task.Owner.GetUID())()
	if task.Again {
		if err := a.lookFirst(ctx, &task); err != nil {
			return err
		}
	}
	switch task.State {
	case Absent:
		return a.install(ctx, task)
	case OutOfDate:
		return a.upgrade(ctx, task)
	case Unfinished:
		return a.resume(ctx, task)
	case Drifted:
		return a.applier.execute(ctx, task.Owner, task.Plan)
	}
	return fmt.Errorf("no action for state %q", task.State)
}

// lookFirst looks for what is in the way of a task.
func (a *Actor) lookFirst(ctx context.Context, task *Task) error {
	plan, err := a.applier.check(ctx, task.Owner, task.Plan)
	if err != nil {
		return err
	}
	task.Plan = plan
	if task.State == Absent {
		return a.records.free(ctx, *task)
	}
	return nil
}

// install writes all objects and records the first release. Where the name of one of them, or of the release, turns out to be
// somebody else's, what was created until then is deleted.
func (a *Actor) install(ctx context.Context, task Task) error {
	manifest, err := task.Desired.Manifest()
	if err != nil {
		return err
	}
	if err := fits(manifest, task.Desired.Values); err != nil {
		return err
	}
	err = a.applier.execute(ctx, task.Owner, task.Plan)
	if err == nil {
		err = a.records.add(ctx, task, 1, manifest)
	}
	var notOurs *NotOursError
	if errors.As(err, &notOurs) {
		return errors.Join(err, a.applier.undo(ctx, task.Owner, task.Plan.Create))
	}
	return err
}

// upgrade makes the next release. What the API server would refuse it refuses in a dry run, before anything is written; the
// write of a single object is its own.
func (a *Actor) upgrade(ctx context.Context, task Task) error {
	manifest, err := task.Desired.Manifest()
	if err != nil {
		return err
	}
	if err := fits(manifest, task.Desired.Values); err != nil {
		return err
	}
	if err := a.applier.dryRun(ctx, task.Owner, task.Plan); err != nil {
		return err
	}
	if err := a.applier.execute(ctx, task.Owner, task.Plan); err != nil {
		return err
	}
	revision := task.Snapshot.Record.Revision + 1
	if err := a.records.add(ctx, task, revision, manifest); err != nil {
		return err
	}
	return a.records.retire(ctx, task, revision)
}

// resume finishes the newest release, which is the wanted one but not deployed, as another version of the operator or Helm
// itself may leave it: the plan is written and the record marked deployed. It makes no new revision.
func (a *Actor) resume(ctx context.Context, task Task) error {
	if err := a.applier.execute(ctx, task.Owner, task.Plan); err != nil {
		return err
	}
	revision := task.Snapshot.Record.Revision
	if err := a.records.mark(task, revision, helmrelease.StatusDeployed, "Resumed after an interruption"); err != nil {
		return err
	}
	return a.records.retire(ctx, task, revision)
}

// Delete carries out the deletions of a plan for a resource that is going itself. No record is kept.
func (a *Actor) Delete(ctx context.Context, owner client.Object, plan *Plan) error {
	defer a.applier.observer.Begin(owner.GetUID())()
	return a.applier.execute(ctx, owner, &Plan{Delete: plan.Delete})
}

package release

import (
	"context"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Prove returns an error if the plan of a task would not be carried out as a whole, as far as the API server knows.
// Nothing is written. The error is as of Write.
func (a *Actor) Prove(ctx context.Context, task Task) error {
	if err := fits(task); err != nil {
		return err
	}
	session := a.writer.Begin(task.Owner.GetUID())
	defer session.End()
	if err := a.usesOfOthers(ctx, session, task); err != nil {
		return err
	}
	writes := a.applier(session, task.Owner, task.Desired)
	return blame(task, writes.allLeft(ctx, task.Plan, writes.wouldTake(ctx, task.Plan)))
}

// ProveAdoption is Prove for a resource that may ask for adoption. It returns the objects of others that would be taken
// over. The error is as of Adopt or Write.
func (a *Actor) ProveAdoption(ctx context.Context, task Task) ([]kube.Key, error) {
	if AdoptionOf(task.Owner) == nil || len(task.Plan.Create) == 0 {
		return nil, a.Prove(ctx, task)
	}
	if err := fits(task); err != nil {
		return nil, err
	}
	session := a.writer.Begin(task.Owner.GetUID())
	defer session.End()
	survey, _, err := a.prospects(ctx, session, a.applier(session, task.Owner, task.Desired), task)
	if err != nil {
		return nil, blame(task, err)
	}
	return survey.Keys(), nil
}

package release

import (
	"context"

	"github.com/example/appservice-operator/internal/kube"
)

// Try reports whether a task can be carried out, as far as that is known before anything is written: what runs before
// it need not run for a release that is refused. It returns the objects of others that would be adopted. The error is
// one of those of Adopt and Write.
func (a *Actor) Try(ctx context.Context, task Task) (adopted []kube.Key, err error) {
	if err := fits(task.Desired); err != nil {
		return nil, err
	}
	session := a.writer.Begin(task.Owner.GetUID())
	defer session.End()
	writes := a.applier(session, task.Owner, task.Desired)
	if AdoptionOf(task.Owner) != nil && len(task.Plan.Create) > 0 {
		survey, _, err := a.prospects(ctx, session, writes, task)
		if err != nil {
			return nil, blame(task, err)
		}
		return survey.Keys(), nil
	}
	if err := a.usesOfOthers(ctx, session, task); err != nil {
		return nil, err
	}
	return nil, blame(task, writes.allLeft(ctx, task.Plan, writes.wouldTake(ctx, task.Plan)))
}

package release

import "context"

// repair puts back what was deleted, edited or left over. The release stays as it is.
func (a *Actor) repair(ctx context.Context, task Task) error {
	return a.applier.execute(ctx, task.Owner, task.Plan)
}

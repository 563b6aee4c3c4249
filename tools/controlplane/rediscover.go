package controlplane

import (
	"context"
	"fmt"
	"slices"

	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
)

// Rediscover starts the controller manager anew, so that the garbage collector knows of kinds that were added since: it
// looks for new ones every 30 s only. A cluster that Up has not made is left alone.
func (c *Cluster) Rediscover(ctx context.Context) error {
	if !c.ours {
		return nil
	}
	i, release, err := lock(ctx, c.Name, nil)
	if err != nil {
		return fmt.Errorf("cannot restart the controller manager of cluster %s: %w", c.Name, err)
	}
	defer release()
	if i.programs, err = Programs(ctx, nil); err != nil {
		return fmt.Errorf("cannot restart the controller manager of cluster %s: %w", c.Name, err)
	}
	if err := poll.Within(ctx, patience, i.restartControllerManager); err != nil {
		return fmt.Errorf("cannot restart the controller manager of cluster %s: %w", c.Name, err)
	}
	return nil
}

func (i *instance) restartControllerManager(ctx context.Context) error {
	const name = "kube-controller-manager"
	old, err := processes.Of(ctx, i.dir())
	if err != nil {
		return err
	}
	if err := processes.Kill(name, old[name]); err != nil {
		return err
	}
	return poll.Until(ctx, func(ctx context.Context) error {
		// It starts what does not run, and takes a process that is about to go for one that runs.
		if err := i.kwokctl(ctx, "start", "cluster"); err != nil {
			return err
		}
		running, err := processes.Of(ctx, i.dir())
		if err != nil {
			return err
		}
		if len(running[name]) == 0 || slices.ContainsFunc(running[name], func(pid int) bool { return slices.Contains(old[name], pid) }) {
			return fmt.Errorf("%s did not start", name)
		}
		return nil
	})
}

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
)

// attempt is how long one attempt to start programs may take: until they answer, or until it is clear that one was overlooked.
const attempt = 20 * time.Second

// errNotOurs says that a cluster was not made by Up, so its programs must not be ended.
var errNotOurs = errors.New("Up has not made it")

// Rediscover restarts the controller manager, so that the garbage collector discovers kinds that were added since: it looks for new ones every 30 s
// only. A cluster that Up has not made is not touched.
func (c *Cluster) Rediscover(ctx context.Context) error {
	if !c.ours {
		return nil
	}
	return c.Without(ctx, "kube-controller-manager", func() {})
}

// Without ends a program of the cluster with SIGKILL, waits for what happens while it is gone, starts it again, and returns when the API
// server is ready. No other cluster is started meanwhile: it would get the ports of the program, which seem to be free.
func (c *Cluster) Without(ctx context.Context, program string, meanwhile func()) error {
	return c.alone(ctx, "cannot start "+program+" again", func(ctx context.Context, i *instance) error {
		if err := poll.Within(ctx, patience, func(ctx context.Context) error { return i.kill(ctx, program) }); err != nil {
			return err
		}
		meanwhile()
		return poll.Within(ctx, patience, i.start)
	})
}

// kill ends a program and returns when it is gone.
func (i *instance) kill(ctx context.Context, program string) error {
	return poll.Until(ctx, func(ctx context.Context) error {
		running, err := processes.Of(ctx, i.dir())
		if err != nil || len(running[program]) == 0 {
			return err
		}
		if err := processes.Kill(program, running[program]); err != nil {
			return err
		}
		return fmt.Errorf("%s is still running", program)
	})
}

// start starts the programs that do not run, and returns when the API server is ready.
func (i *instance) start(ctx context.Context) error {
	err := poll.Until(ctx, func(ctx context.Context) error {
		// kwokctl may consider a program that has just ended to be running; it then waits for it.
		err := poll.Within(ctx, attempt, func(ctx context.Context) error { return i.kwokctl(ctx, "start", "cluster") })
		if err != nil {
			return err
		}
		running, err := processes.Of(ctx, i.dir())
		if err != nil {
			return err
		}
		for _, name := range components() {
			if len(running[name]) == 0 {
				return fmt.Errorf("%s did not start", name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return poll.Until(ctx, i.answers)
}

// alone does something with a cluster that Up has made, while no other process starts or ends one.
func (c *Cluster) alone(ctx context.Context, what string, do func(context.Context, *instance) error) error {
	what = fmt.Sprintf("%s in cluster %s", what, c.Name)
	if !c.ours {
		return fmt.Errorf("%s: %w", what, errNotOurs)
	}
	i, release, err := lock(ctx, c.Name, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer release()
	if i.programs, err = Programs(ctx, nil); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := do(ctx, i); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

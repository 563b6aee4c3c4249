package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
)

const (
	// look is the interval at which programs that have ended are looked for.
	look = time.Second
	// pause follows a start: a program that ends at once is not started again all the time.
	pause = 10 * time.Second
)

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
	what := fmt.Sprintf("cannot start %s again in cluster %s", program, c.Name)
	if !c.ours {
		return fmt.Errorf("%s: %w", what, errNotOurs)
	}
	i, release, err := lock(ctx, c.Name, io.Discard)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer release()
	if err := poll.Within(ctx, patience, func(ctx context.Context) error { return i.kill(ctx, program) }); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	meanwhile()
	if err := poll.UntilWithin(ctx, patience, func(ctx context.Context) error {
		running, err := processes.Of(ctx, i.dir())
		if err == nil && len(running[program]) == 0 { // also if the port of the one before was not free yet
			err = i.start(program)
		}
		return errors.Join(err, c.answers(ctx))
	}); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
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

// start starts a program as kwokctl started it first.
func (i *instance) start(program string) error {
	text, err := os.ReadFile(filepath.Join(i.dir(), "kwok.yaml"))
	if err != nil {
		return err
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var kwokctl struct {
			Components []struct {
				Binary, WorkDir string
				Args            []string
				Envs            []struct{ Name, Value string }
			}
		}
		if err := yaml.Unmarshal([]byte(document), &kwokctl); err != nil {
			return fmt.Errorf("cannot read the configuration of kwokctl: %w", err)
		}
		for _, component := range kwokctl.Components {
			if filepath.Base(component.Binary) == program {
				command := exec.Command(component.Binary, component.Args...)
				command.Dir, command.Env = component.WorkDir, os.Environ()
				for _, variable := range component.Envs {
					command.Env = append(command.Env, variable.Name+"="+variable.Value)
				}
				_, err := processes.Detach(command, i.log(program))
				return err
			}
		}
	}
	return fmt.Errorf("kwokctl knows no %s", program)
}

// supervise starts programs of the cluster again that have ended, and reports them with the end of their logs, until the context ends. It does so
// within alone.
func (i *instance) supervise(ctx context.Context, alone func(do func() error) error) {
	for ctx.Err() == nil {
		wait := look
		if ended, err := i.ended(ctx); err != nil || len(ended) > 0 {
			err = alone(func() error {
				ended, err := i.ended(ctx) // unless another process has started them again
				for _, program := range ended {
					i.say("%s of cluster %s has ended, and is started again; %s", program, i.name, processes.EndOf(i.log(program), lines))
					err, wait = errors.Join(err, i.start(program)), pause
				}
				return err
			})
			if err != nil && ctx.Err() == nil {
				i.say("cannot start programs of cluster %s that have ended: %v", i.name, err)
				wait = pause
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// supervised supervises the cluster until the end that it returns, for those who have the lock.
func (i *instance) supervised(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	working.Go(func() { i.supervise(ctx, func(do func() error) error { return do() }) })
	return func() { cancel(); working.Wait() }
}

// superviseOn does so for those who do not have it, as long as the cluster is there.
func (i *instance) superviseOn(ctx context.Context) {
	i.supervise(ctx, func(do func() error) error {
		_, release, err := lock(ctx, i.name, io.Discard)
		if err != nil {
			return err
		}
		defer release()
		if _, err := os.Stat(i.lifecycle(Options{}).MadeFrom()); err != nil {
			return nil //nolint:nilerr // it is deleted, or was not finished
		}
		return do()
	})
}

// ended returns the names of the programs that kwokctl has started and that do not run.
func (i *instance) ended(ctx context.Context) (names []string, err error) {
	running, err := processes.Of(ctx, i.dir())
	if err != nil {
		return nil, err
	}
	for _, name := range components() {
		if _, err := os.Stat(filepath.Join(i.dir(), "pids", name+".pid")); err == nil && len(running[name]) == 0 {
			names = append(names, name)
		}
	}
	return names, nil
}

func (i *instance) say(format string, args ...any) {
	_, _ = fmt.Fprintf(i.progress, format+"\n", args...)
}

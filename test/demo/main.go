// Command demo shows what the operator does: it takes one AppService through its life, step by step, and prints every
// kubectl command on the way. "make demo" runs it.
//
// It brings up a control plane with simulated nodes and runs the manager beside it, as a child process. Whatever a step
// brings, it also puts on a list of steps to undo: the last step, a failure and an interrupt all undo that list,
// and nothing else. So an existing cluster (CLUSTER=current, or a CLUSTER_NAME that is up) stays, and so
// does its CRD. With KEEP=1 the list is printed instead, as commands. The demo never writes into the tree.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

// step is one heading of the demo and what happens under it.
type step struct {
	title string
	do    func(context.Context)
}

// demo is the state that one step leaves for the next.
type demo struct {
	out     io.Writer
	root    string // the repository, where commands run
	folder  string // in the cache: the manager, its log and its process number
	name    string // of the cluster to bring up
	current bool   // use the cluster of the user's own kubeconfig
	keep    bool   // leave everything running at the end

	cluster   *controlplane.Cluster
	shared    bool // the cluster was there before, and other things may live in it
	simulated bool // its nodes are: they run no containers
	pidFile   *os.File
	manager   *manager
	earlier   int // requests of managers that have ended
	figures   []figure
	abort     context.CancelCauseFunc
	undo      []undo
	built     chan struct{} // closed when the manager is built
	working   sync.WaitGroup
}

func main() {
	// A broken pipe must not end the program before it has cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	start := time.Now()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Printf("\nDEMO failed after %s: %v\n", rounded(time.Since(start)), err)
		os.Exit(1)
	}
	fmt.Printf("\nDEMO ok in %.0f s\n", time.Since(start).Seconds())
}

func run(ctx context.Context, out io.Writer) error {
	var d *demo
	var unlock func()
	err := try.Catch(func() {
		d = prepare(out)
		unlock = d.lock()
	})
	if err != nil {
		return err
	}
	defer unlock()
	defer d.working.Wait() // for what is still being built, which the end of the context ends
	ctx, d.abort = context.WithCancelCause(ctx)
	defer d.abort(nil)
	steps := d.steps()
	for i, s := range steps {
		d.say("\n==> %d/%d %s", i+1, len(steps), s.title)
		if err := try.Catch(func() { d.measured(ctx, s) }); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx) // and not what the commands say that it has ended
			}
			err = fmt.Errorf("step %d/%d (%s): %w", i+1, len(steps), s.title, err)
			return d.fail(ctx, err)
		}
	}
	if !d.keep {
		d.say("\nTo keep cluster and manager at the end, and play on: make demo KEEP=1")
	}
	return nil
}

// prepare reads the environment. It starts nothing.
func prepare(out io.Writer) *demo {
	keep := os.Getenv("KEEP")
	d := &demo{
		out: out, root: try.Get(toolchain.Root()), current: try.Get(controlplane.CurrentWanted()),
		name: cmp.Or(os.Getenv("CLUSTER_NAME"), defaultCluster), keep: keep != "" && keep != "0",
	}
	place := d.name
	if d.current {
		place = "current"
	}
	if strings.ContainsAny(place, `./\`) {
		try.Fail("cannot use CLUSTER_NAME=%s: use lower-case letters, digits and dashes", place)
	}
	d.folder = filepath.Join(try.Get(toolchain.Cache()), "demo", place)
	try.Do(os.MkdirAll(d.folder, 0o755))
	return d
}

// fail prints what is known about the error of a step, and cleans up.
func (d *demo) fail(ctx context.Context, err error) error {
	if d.cluster != nil && ctx.Err() == nil {
		err = errors.Join(err, d.cluster.Flaw(ctx))
	}
	d.say("\n==> Failed in %v", err)
	if d.manager != nil {
		d.say("    %s", processes.EndOf(d.logFile(), 20))
	}
	d.say("\n==> Clean up")
	if problem := d.cleanUp(ctx); problem != nil {
		return fmt.Errorf("%w; and then: %w", err, problem)
	}
	return err
}

func (d *demo) say(format string, args ...any) {
	_, _ = fmt.Fprintf(d.out, format+"\n", args...)
}

func rounded(duration time.Duration) string {
	return duration.Round(100 * time.Millisecond).String()
}

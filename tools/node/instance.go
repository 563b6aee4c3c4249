package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

// instance is a node as it is on this machine, whole or not. Its methods need the lock.
type instance struct {
	name     string
	dir      string
	programs toolchain.Programs
	progress io.Writer
	ended    chan string // names of the components that this process has started and that have ended, up to most
}

// most is more than the components of a node.
const most = 10

func (i *instance) path(elements ...string) string {
	return filepath.Join(append([]string{i.dir}, elements...)...)
}

func (i *instance) kubeconfig() string { return i.path("kubeconfig.yaml") }
func (i *instance) socket() string     { return i.path("containerd.sock") }
func (i *instance) madeFrom() string   { return i.path("made-from") }

func (i *instance) node() *Node {
	return &Node{
		Name: i.name, Kubeconfig: i.kubeconfig(), Kubectl: i.programs["kubectl"],
		Address: linkOf(i.name).node.String(), instance: i,
	}
}

func (i *instance) say(format string, args ...any) {
	_, _ = fmt.Fprintf(i.progress, format+"\n", args...)
}

func (i *instance) up(ctx context.Context) error {
	switch flaw, err := i.flaw(ctx); {
	case err != nil:
		return err
	case flaw == "":
		return nil
	case flaw != absent:
		i.say("node %s is not whole (%s): making a new one", i.name, flaw)
	}
	if err := i.delete(ctx); err != nil {
		return err
	}
	if err := ensurePackages(ctx, i.progress); err != nil {
		return err
	}
	start := time.Now()
	i.say("starting node %s ...", i.name)
	if err := poll.Within(ctx, patience, i.create); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // and not what the commands say that it has ended
		}
		// The logs stay, the processes do not: even a cancelled caller leaves none behind.
		err = errors.Join(err, i.end(context.WithoutCancel(ctx)))
		return fmt.Errorf("%w (logs: %s)", err, i.path("logs"))
	}
	i.say("started node %s in %s", i.name, time.Since(start).Round(100*time.Millisecond))
	return nil
}

const (
	// absent is the flaw of a node that nobody has made yet.
	absent = "it is not there"
	// stall is how long an API server may leave questions without an answer before it is given up.
	stall = 30 * time.Second
)

// flaw says what is wrong with the node, or nothing if it can be used as it is.
func (i *instance) flaw(ctx context.Context) (string, error) {
	if _, err := os.Stat(i.dir); errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	made, err := os.ReadFile(i.madeFrom())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it was never finished", nil
	case err != nil:
		return "", err
	case string(made) != i.recipe():
		return "it was made from other versions or settings", nil
	}
	running, err := processes.Of(ctx, i.dir)
	if err != nil {
		return "", err
	}
	for _, c := range i.components() {
		if len(running[c.name]) == 0 {
			return c.name + " is not running", nil
		}
	}
	if err := poll.UntilWithin(ctx, stall, i.isReady); err != nil {
		return err.Error(), ctx.Err()
	}
	return "", nil
}

// recipe is everything that a node is made from.
func (i *instance) recipe() string {
	var recipe strings.Builder
	for _, c := range i.components() {
		fmt.Fprintf(&recipe, "%s %s\n", i.programs[c.name], strings.Join(c.args, " "))
	}
	for _, name := range settings() {
		content, _ := files.ReadFile(name) // it is embedded
		recipe.Write(content)
	}
	return recipe.String()
}

// create makes the node: its namespaces first, then the API server and containerd, then what needs these.
func (i *instance) create(ctx context.Context) error {
	if err := i.writeFiles(); err != nil {
		return err
	}
	if err := i.makeGroups(); err != nil {
		return err
	}
	if err := i.enclose(ctx); err != nil {
		return err
	}
	first, second := i.stages()
	if err := i.start(ctx, first...); err != nil {
		return err
	}
	if err := i.loadPause(ctx); err != nil {
		return err
	}
	if err := i.until(ctx, i.answers); err != nil {
		return err
	}
	if err := i.start(ctx, second...); err != nil {
		return err
	}
	if err := i.until(ctx, i.isReady); err != nil {
		return err
	}
	return os.WriteFile(i.madeFrom(), []byte(i.recipe()), 0o644)
}

// until repeats do until it succeeds, unless a component ends meanwhile.
func (i *instance) until(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := poll.Until(ctx, func(ctx context.Context) error {
		select {
		case name := <-i.ended:
			cancel(fmt.Errorf("%s has ended", name))
			return context.Cause(ctx)
		default:
			return do(ctx)
		}
	})
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return err
}

// delete ends the node and deletes its folder.
func (i *instance) delete(ctx context.Context) error {
	if err := i.end(ctx); err != nil {
		return err
	}
	return os.RemoveAll(i.dir)
}

// end ends all processes of the node, its pods' included, and takes back what the machine has lent it.
func (i *instance) end(ctx context.Context) error {
	// They are in one namespace: killing its first process kills all. The others in the folder's name are ended, too.
	if err := processes.End(ctx, i.dir); err != nil {
		return err
	}
	if err := i.removeGroups(ctx); err != nil {
		return err
	}
	return i.disconnect(ctx)
}

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/example/appservice-operator/tools/lifecycle"
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

func (i *instance) log(name string) string { return i.path("logs", name+".log") }
func (i *instance) kubeconfig() string     { return i.path("kubeconfig.yaml") }
func (i *instance) socket() string         { return i.path("containerd.sock") }

func (i *instance) node() *Node {
	return &Node{
		Name: i.name, Kubeconfig: i.kubeconfig(), Kubectl: i.programs["kubectl"],
		Address: linkOf(i.name).node.String(), instance: i,
	}
}

// stall is how long an API server may leave requests unanswered before it counts as hung.
const stall = 2 * time.Minute

// lifecycle is how the node is brought up.
func (i *instance) lifecycle() *lifecycle.Instance {
	var names []string
	for _, c := range i.components() {
		names = append(names, c.name)
	}
	return &lifecycle.Instance{
		What: "node " + i.name, Dir: i.dir, Progress: i.progress, Patience: patience, Stall: stall,
		Recipe: i.recipe(), Components: names, Answers: i.isReady, Create: i.create, End: i.end,
	}
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
	return i.until(ctx, i.isReady)
}

// until repeats do until it succeeds, unless a component ends meanwhile.
func (i *instance) until(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := poll.Until(ctx, func(ctx context.Context) error {
		select {
		case name := <-i.ended:
			cancel(fmt.Errorf("%s has ended; %s", name, processes.EndOf(i.log(name), 5)))
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

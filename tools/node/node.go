package node

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/example/appservice-operator/tools/filelock"
	"github.com/example/appservice-operator/tools/packages"
	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/toolchain"
)

const (
	// DefaultName is the name of a node that the caller has not named.
	DefaultName = "appservice-node"
	// patience is how long a node may take until it is ready, on a machine that is busy with other things as well.
	patience = 5 * time.Minute
)

// Options says which node to bring up. The zero value is the default node.
type Options struct {
	Name     string    // DefaultName if empty
	Progress io.Writer // what takes longer than a moment is reported here, if it is set
}

// Node is a node that is ready.
type Node struct {
	Name       string // its name in the cluster, too
	Kubeconfig string // path of a kubeconfig whose current context is the cluster of this node
	Kubectl    string // path of a kubectl that fits the cluster
	Address    string // IP address at which this machine reaches the node's ports

	instance *instance
}

// Up returns the node with the given name, brought up if it is not up yet.
func Up(ctx context.Context, options Options) (*Node, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	if err := supported(); err != nil {
		return nil, fmt.Errorf("cannot bring up node %s: %w", options.Name, err)
	}
	programs, err := Programs(ctx, options.Progress)
	if err != nil {
		return nil, fmt.Errorf("cannot bring up node %s: %w", options.Name, err)
	}
	i, release, err := lock(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("cannot bring up node %s: %w", options.Name, err)
	}
	defer release()
	i.programs = programs
	if err := packages.Ensure(ctx, options.Progress, packaged); err != nil {
		return nil, fmt.Errorf("cannot bring up node %s: %w", options.Name, err)
	}
	if _, err := i.lifecycle().Up(ctx); err != nil {
		return nil, fmt.Errorf("cannot bring up node %s: %w", options.Name, err)
	}
	return i.node(), nil
}

// Existing returns the node with the given name, if it is up.
func Existing(ctx context.Context, options Options) (*Node, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	i, release, err := lock(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("cannot find node %s: %w", options.Name, err)
	}
	defer release()
	if i.programs, err = Programs(ctx, options.Progress); err != nil {
		return nil, fmt.Errorf("cannot find node %s: %w", options.Name, err)
	}
	if flaw, err := i.lifecycle().Flaw(ctx); err != nil || flaw != "" {
		return nil, fmt.Errorf("cannot use node %s (%s): bring it up first (error: %w)", options.Name, flaw, err)
	}
	return i.node(), nil
}

// Down ends the node with the given name and deletes its state. It is not an error if there is none.
func Down(ctx context.Context, options Options) error {
	options, err := options.complete()
	if err != nil {
		return err
	}
	i, release, err := lock(ctx, options)
	if err != nil {
		return fmt.Errorf("cannot delete node %s: %w", options.Name, err)
	}
	defer release()
	if err := i.lifecycle().Delete(ctx); err != nil {
		return fmt.Errorf("cannot delete node %s: %w", options.Name, err)
	}
	return nil
}

// Load brings images into the node, from archives as "docker save" or tools/images write them.
func (n *Node) Load(ctx context.Context, archives ...string) error {
	for _, archive := range archives {
		if err := n.instance.load(ctx, archive); err != nil {
			return fmt.Errorf("cannot load image %s: %w", archive, err)
		}
	}
	return nil
}

// RestartKubelet kills the kubelet and starts it again. It returns when the new one has said that the node is ready.
func (n *Node) RestartKubelet(ctx context.Context) error {
	if err := poll.Within(ctx, patience, n.instance.restartKubelet); err != nil {
		return fmt.Errorf("cannot restart the kubelet of node %s: %w", n.Name, err)
	}
	return nil
}

// Kill kills the first process of a container, without asking it first. The ID is that of the container's status.
func (n *Node) Kill(ctx context.Context, containerID string) error {
	_, id, _ := strings.Cut(containerID, "://")
	if _, err := n.instance.ctr(ctx, "task", "kill", "--signal", "SIGKILL", id); err != nil {
		return fmt.Errorf("cannot kill container %s: %w", id, err)
	}
	return nil
}

// Programs provides the programs that a node is made of, built if need be. Those of containerd are not the distribution's, which may
// be too old for image volumes.
func Programs(ctx context.Context, progress io.Writer) (toolchain.Programs, error) {
	return toolchain.Ensure(ctx, progress, "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler",
		"kubelet", "kube-proxy", "kubectl", "containerd", shim, "ctr")
}

func (o Options) complete() (Options, error) {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	// Its folder is part of the name of a socket, which may have 107 characters.
	if !regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?$`).MatchString(o.Name) {
		return o, fmt.Errorf("cannot name a node %q: use up to 30 lower-case letters, digits and dashes", o.Name)
	}
	return o, nil
}

// supported returns an error where a node cannot run.
func supported() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("it needs Linux, and this is %s: set KUBECONFIG to a cluster of kind instead", runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("it needs root")
	}
	if version := os.Getenv("KUBERNETES_VERSION"); version != "" && version != toolchain.DefaultKubernetes {
		return fmt.Errorf("it cannot be of Kubernetes %s: leave KUBERNETES_VERSION unset", version)
	}
	return nil
}

// lock returns the instance of the given name for the caller alone.
func lock(ctx context.Context, options Options) (*instance, func(), error) {
	cache, err := toolchain.Cache()
	if err != nil {
		return nil, nil, err
	}
	release, err := filelock.Acquire(ctx, filepath.Join(cache, "locks", "node-"+options.Name), func() {
		_, _ = fmt.Fprintf(options.Progress, "waiting for another process that starts or ends node %s\n", options.Name)
	})
	if err != nil {
		return nil, nil, err
	}
	i := &instance{name: options.Name, dir: filepath.Join(cache, "nodes", options.Name), progress: options.Progress}
	i.ended = make(chan string, most)
	return i, release, nil
}

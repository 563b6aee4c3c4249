// Package controlplane runs a real Kubernetes control plane on this machine, for tests and for trying things out.
//
// etcd, the API server, the controller manager and the scheduler are the real programs. The nodes are simulated by
// kwok: pods become Running and Ready automatically, and no container ever starts. It needs no root and no container
// engine, listens on the loopback address only, and never touches the user's own kubeconfig.
//
// A cluster outlives the process that brought it up, and the next Up with its name finds it again. All its state is in
// one folder, clusters/NAME in the toolchain's cache. A cluster that is not whole (the machine was restarted, a process
// died, a pinned version changed) is thrown away and made again.
package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/example/appservice-operator/tools/filelock"
	"github.com/example/appservice-operator/tools/toolchain"
)

const (
	// DefaultName is the name of a cluster that the caller has not named.
	DefaultName = "appservice"
	// DefaultNodes is the number of simulated nodes if the caller sets none.
	DefaultNodes = 2
	// patience is how long a cluster may take until it is ready, on a machine that is busy with other things as well.
	patience = 5 * time.Minute
)

// Options says which cluster to bring up. The zero value is the default cluster.
type Options struct {
	Name     string    // DefaultName if empty
	Nodes    int       // how many simulated nodes there are at least, DefaultNodes if 0
	Progress io.Writer // what takes longer than a moment is reported here, if it is set
	// AuditPolicy, if set, is the audit policy of the API server, as text. Cluster.AuditLog then lists requests.
	AuditPolicy string
}

// Cluster is a running cluster.
type Cluster struct {
	Name       string
	Kubeconfig string // path of a kubeconfig whose current context is the cluster
	Kubectl    string // path of a kubectl that fits the cluster
	AuditLog   string // path of the API server's audit log, which exists if Options had a policy

	ours bool // made by Up
}

// Up returns the cluster with the given name, brought up if it is not up yet. When it returns, the API server is ready,
// the default service account is there and every node is Ready. A program of the cluster that ends is started again, as long
// as the context lasts, and reported to Progress with the end of its log.
func Up(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	programs, err := Programs(ctx, options.Progress)
	if err != nil {
		return nil, fmt.Errorf("cannot bring up cluster %s: %w", options.Name, err)
	}
	i, release, err := lock(ctx, options.Name, options.Progress)
	if err != nil {
		return nil, fmt.Errorf("cannot bring up cluster %s: %w", options.Name, err)
	}
	defer release()
	i.programs, i.auditPolicy = programs, options.AuditPolicy
	if err := i.up(ctx, options); err != nil {
		return nil, fmt.Errorf("cannot bring up cluster %s: %w", options.Name, err)
	}
	go i.superviseOn(ctx)
	return i.cluster(), nil
}

// Down ends the cluster with the given name and deletes its state. It is not an error if the cluster does not exist.
func Down(ctx context.Context, name string) error {
	if err := check(name); err != nil {
		return err
	}
	i, release, err := lock(ctx, name, io.Discard)
	if err != nil {
		return fmt.Errorf("cannot delete cluster %s: %w", name, err)
	}
	defer release()
	if err := i.lifecycle(Options{}).Delete(ctx); err != nil {
		return fmt.Errorf("cannot delete cluster %s: %w", name, err)
	}
	return nil
}

// Programs provides the programs of a cluster, downloaded or built if need be.
func Programs(ctx context.Context, progress io.Writer) (toolchain.Programs, error) {
	return toolchain.Ensure(ctx, progress, "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler",
		"kubectl", "kwok", "kwokctl")
}

func (o Options) complete() (Options, error) {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if o.Nodes == 0 {
		o.Nodes = DefaultNodes
	}
	if o.Nodes < 0 {
		return o, fmt.Errorf("cannot bring up cluster %s: it cannot have %d nodes", o.Name, o.Nodes)
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o, check(o.Name)
}

// check refuses names that are not valid for a folder or in a kubeconfig.
func check(name string) error {
	if !regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$`).MatchString(name) {
		return fmt.Errorf("cannot name a cluster %q: use up to 50 lower-case letters, digits and dashes", name)
	}
	return nil
}

// lock returns the instance of the given name for the caller alone. There is one lock for all of the user's clusters,
// whichever cache they are in, because kwokctl looks for free ports first and uses them later.
func lock(ctx context.Context, name string, progress io.Writer) (*instance, func(), error) {
	cache, err := toolchain.Cache()
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("appservice-operator-clusters-%d.lock", os.Getuid()))
	release, err := filelock.Acquire(ctx, path, func() {
		_, _ = fmt.Fprintln(progress, "waiting for another process that starts or ends a cluster")
	})
	if err != nil {
		return nil, nil, err
	}
	return &instance{name: name, cache: cache, progress: progress}, release, nil
}

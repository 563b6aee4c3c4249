// Package olm runs OLM v0 beside a cluster and tests bundle and catalog with it. OLM's two operators and a catalog's server
// are processes of this machine, so that OLM itself needs neither images nor rights. The catalog is the one of this tree.
//
// The tests use a control plane with simulated nodes, where pods become ready and run no containers; test/e2e uses the
// package on a cluster with real ones.
package olm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

const (
	// Namespace is that of OLM and of the catalog.
	Namespace = "olm"
	// module is where OLM's CRDs are.
	module = "github.com/operator-framework/operator-lifecycle-manager"
)

// Cluster is where OLM does its work.
type Cluster struct {
	Kubeconfig string
	Kubectl    string
	Client     client.Client
}

// Instance is OLM at work.
type Instance struct {
	cluster Cluster
	crds    string // the folder of OLM's CRDs
	folder  string // for what the programs write
	address string // of the catalog's server

	programs []*processes.Child
	logs     map[string]*bytes.Buffer
}

// Programs provides the programs that OLM consists of, built if need be, and says so on progress.
func Programs(ctx context.Context, progress io.Writer) (toolchain.Programs, error) {
	return toolchain.Ensure(ctx, progress, "opm", "olm-catalog", "olm-operator")
}

// Start installs OLM's CRDs, starts its programs and offers the catalog of this tree. An instance that is returned must be
// stopped, even with an error.
func Start(ctx context.Context, cluster Cluster) (*Instance, error) {
	programs, err := Programs(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	i := &Instance{cluster: cluster, logs: map[string]*bytes.Buffer{}}
	if i.folder, err = os.MkdirTemp("", "olm-"); err != nil {
		return nil, err
	}
	if err := i.installCRDs(ctx); err != nil {
		return i, err
	}
	if err := i.serveCatalog(ctx, programs["opm"]); err != nil {
		return i, err
	}
	err = i.launch("catalog", programs["olm-catalog"], "--namespace="+Namespace, "--kubeconfig="+cluster.Kubeconfig, "--interval=30s")
	if err != nil {
		return i, err
	}
	if err := i.launch("operator", programs["olm-operator"], "--namespace="+Namespace); err != nil {
		return i, err
	}
	source, err := catalogSource(i.address)
	if err != nil {
		return i, err
	}
	for _, object := range []client.Object{source, Object("v1", "OLMConfig", "", "cluster", `{}`)} {
		if err := client.IgnoreAlreadyExists(cluster.Client.Create(ctx, object)); err != nil {
			return i, err
		}
	}
	return i, nil
}

func (i *Instance) installCRDs(ctx context.Context) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	// If OLM was never built here, but the cache of a build service has its programs, the module is missing, too.
	find := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	find.Dir = filepath.Join(root, "tools/pins/olm")
	output, err := find.Output()
	if err != nil {
		return fmt.Errorf("cannot find %s: %w", module, err)
	}
	dir, err := folderOf(output)
	if err != nil {
		return fmt.Errorf("cannot find %s: %w", module, err)
	}
	i.crds = filepath.Join(dir, "deploy/chart/crds")
	for _, args := range [][]string{
		{"create", "namespace", Namespace},
		{"apply", "--server-side", "-f", i.crds},
		{"wait", "--for=condition=Established", "--timeout=60s", "-f", i.crds},
	} {
		if err := i.kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// launch starts a program that runs until Stop.
func (i *Instance) launch(name, program string, args ...string) error {
	command, log := exec.Command(program, args...), &bytes.Buffer{}
	command.Dir, command.Stdout, command.Stderr = i.folder, log, log
	command.Env = append(os.Environ(), "HOME="+i.folder, "KUBECONFIG="+i.cluster.Kubeconfig,
		"OPERATOR_NAMESPACE="+Namespace, "OPERATOR_NAME=olm-operator")
	child, err := processes.Start(command)
	if err != nil {
		return err
	}
	i.programs, i.logs[name] = append(i.programs, child), log
	return nil
}

func (i *Instance) kubectl(ctx context.Context, args ...string) error {
	kubectl := exec.CommandContext(ctx, i.cluster.Kubectl, append([]string{"--kubeconfig=" + i.cluster.Kubeconfig}, args...)...)
	if output, err := kubectl.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, output)
	}
	return nil
}

// Tell stops OLM and prints the ends of all logs.
func (i *Instance) Tell(to io.Writer) {
	const most = 3000
	i.Stop()
	for name, log := range i.logs {
		text := log.String()
		_, _ = fmt.Fprintf(to, "==> %s wrote at last:\n%s\n", name, text[max(0, len(text)-most):])
	}
}

// Stop ends the programs. Objects that they have made in the cluster stay.
func (i *Instance) Stop() {
	for _, program := range i.programs {
		program.Kill()
	}
	i.programs = nil
	_ = os.RemoveAll(i.folder)
}

// Remove stops OLM and deletes its CRDs, with all objects of these, and its namespace. No operator may be installed by it.
func (i *Instance) Remove(ctx context.Context) error {
	err := i.kubectl(ctx, "delete", "--ignore-not-found", "--timeout=60s", "-f", i.crds)
	i.Stop()
	return errors.Join(err, i.kubectl(ctx, "delete", "--ignore-not-found", "--timeout=60s", "namespace", Namespace))
}

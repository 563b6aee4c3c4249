package controlplane

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

var (
	//go:embed kwokctl.yaml
	programsConfiguration string
	//go:embed stages.yaml
	stages string
	// configuration is what kwokctl and the programs are told, apart from their paths, and what simulated pods do.
	configuration = programsConfiguration + "---\n" + stages
)

// nodes is how big the simulated nodes are: two of them hold the pods of thousands of AppServices.
const nodes = `.allocatable = {cpu: 1000, memory: "4Ti", pods: 10000} | .podCIDRs = ["10.128.0.0/16"]`

// components are the names that the programs of a cluster run under.
func components() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok-controller"}
}

// instance is a cluster as it is on this machine, whole or not. Its methods need the lock.
type instance struct {
	name        string
	cache       string
	programs    toolchain.Programs
	auditPolicy string // of the API server; none if empty
}

func (i *instance) dir() string        { return filepath.Join(i.cache, "clusters", i.name) }
func (i *instance) kubeconfig() string { return filepath.Join(i.dir(), "kubeconfig.yaml") }
func (i *instance) madeFrom() string   { return filepath.Join(i.dir(), "made-from") }

func (i *instance) cluster() *Cluster {
	return &Cluster{
		Name: i.name, Kubeconfig: i.kubeconfig(), Kubectl: i.programs["kubectl"],
		AuditLog: filepath.Join(i.dir(), "logs", "audit.log"), ours: true,
	}
}

func (i *instance) up(ctx context.Context, options Options) error {
	switch flaw, err := i.flaw(ctx); {
	case err != nil:
		return err
	case flaw == "":
		return poll.Within(ctx, patience, func(ctx context.Context) error { return i.settle(ctx, options.Nodes) })
	case flaw != absent:
		_, _ = fmt.Fprintf(options.Progress, "cluster %s is not whole (%s): making a new one\n", i.name, flaw)
		if err := i.delete(ctx); err != nil {
			return err
		}
	}
	start := time.Now()
	_, _ = fmt.Fprintf(options.Progress, "starting cluster %s ...\n", i.name)
	if err := poll.Within(ctx, patience, func(ctx context.Context) error { return i.create(ctx, options.Nodes) }); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // and not what the commands say that it has ended
		}
		// The logs stay, the processes do not: even a cancelled caller leaves none behind.
		err = errors.Join(err, processes.End(context.WithoutCancel(ctx), i.dir()))
		return fmt.Errorf("%w (logs: %s)", err, filepath.Join(i.dir(), "logs"))
	}
	_, _ = fmt.Fprintf(options.Progress, "started cluster %s in %s\n", i.name, time.Since(start).Round(100*time.Millisecond))
	return nil
}

const (
	// absent is the flaw of a cluster that nobody has made yet.
	absent = "absent"
	// stall is how long an API server may leave questions without an answer before it is given up.
	stall = time.Minute
)

// flaw says what is wrong with the cluster, or nothing if it can be used as it is.
func (i *instance) flaw(ctx context.Context) (string, error) {
	if _, err := os.Stat(i.dir()); errors.Is(err, fs.ErrNotExist) {
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
	running, err := processes.Of(ctx, i.dir())
	if err != nil {
		return "", err
	}
	for _, name := range components() {
		if len(running[name]) == 0 {
			return name + " is not running", nil
		}
	}
	// An API server that runs is given time: it may have more to do than this machine is good for.
	if err := poll.UntilWithin(ctx, stall, i.answers); err != nil {
		return "the API server does not answer", ctx.Err()
	}
	return "", nil
}

// recipe is everything that a cluster is made from.
func (i *instance) recipe() string {
	var recipe strings.Builder
	for _, name := range slices.Sorted(maps.Keys(i.programs)) {
		fmt.Fprintf(&recipe, "%s: %s\n", name, i.programs[name])
	}
	return recipe.String() + nodes + "\n" + configuration + i.auditPolicy
}

func (i *instance) create(ctx context.Context, count int) error {
	args := []string{
		"create", "cluster", "--runtime", "binary", "--kubeconfig", "",
		"--etcd-binary", i.programs["etcd"],
		"--kube-apiserver-binary", i.programs["kube-apiserver"],
		"--kube-controller-manager-binary", i.programs["kube-controller-manager"],
		"--kube-scheduler-binary", i.programs["kube-scheduler"],
		"--kwok-controller-binary", i.programs["kwok"],
	}
	audit, done, err := i.audit()
	if err != nil {
		return err
	}
	defer done()
	if err := i.kwokctl(ctx, append(args, audit...)...); err != nil {
		return err
	}
	if err := i.settle(ctx, count); err != nil {
		return err
	}
	return os.WriteFile(i.madeFrom(), []byte(i.recipe()), 0o644)
}

// audit returns the arguments that make the API server keep an audit log, if it shall.
func (i *instance) audit() (args []string, done func(), err error) {
	if i.auditPolicy == "" {
		return nil, func() {}, nil
	}
	file, err := os.CreateTemp("", "audit-policy-*.yaml") // kwokctl copies it
	if err != nil {
		return nil, nil, err
	}
	_, err = file.WriteString(i.auditPolicy)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, nil, err
	}
	// One file, which readers need not look for again: without a size, a log of 100 MB is put away.
	args = []string{"--kube-audit-policy", file.Name(), "--extra-args", "kube-apiserver=audit-log-maxsize=100000"}
	return args, func() { _ = os.Remove(file.Name()) }, nil
}

func (i *instance) delete(ctx context.Context) error {
	if err := processes.End(ctx, i.dir()); err != nil {
		return err
	}
	return os.RemoveAll(i.dir())
}

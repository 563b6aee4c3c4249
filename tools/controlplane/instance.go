package controlplane

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/example/appservice-operator/tools/lifecycle"
	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

var (
	//go:embed kwokctl.yaml
	programsConfiguration string
	//go:embed stages.yaml
	stages string
	// configuration is that of kwokctl and the programs, apart from their paths, and the behavior of simulated pods.
	configuration = programsConfiguration + "---\n" + stages
)

// written is the log of each simulated container, as a container runtime writes it.
const written = "2026-01-01T00:00:00Z stdout F a simulated container writes this line only\n"

// logs returns the part of the configuration that says which log containers have, and makes that.
func (i *instance) logs() (string, error) {
	file := filepath.Join(i.cache, "simulated.log")
	if err := os.WriteFile(file, []byte(written), 0o600); err != nil {
		return "", fmt.Errorf("cannot write the log of simulated containers: %w", err)
	}
	return fmt.Sprintf("\n---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterLogs\nmetadata: {name: all}\n"+
		"spec: {logs: [{logsFile: %[1]q, previousLogsFile: %[1]q}]}\n", file), nil
}

// nodes is the size of the simulated nodes: two of them hold the pods of thousands of AppServices.
const nodes = `.allocatable = {cpu: 1000, memory: "4Ti", pods: 10000} | .podCIDRs = ["10.128.0.0/16"]`

// components are the names that the programs of a cluster run under.
func components() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok-controller"}
}

// instance is a cluster on this machine, complete or not. Its methods need the lock.
type instance struct {
	name        string
	cache       string
	progress    io.Writer
	programs    toolchain.Programs
	auditPolicy string // of the API server; none if empty
}

func (i *instance) dir() string               { return filepath.Join(i.cache, "clusters", i.name) }
func (i *instance) log(program string) string { return i.cluster().log(program) }
func (i *instance) kubeconfig() string        { return filepath.Join(i.dir(), "kubeconfig.yaml") }

func (i *instance) cluster() *Cluster {
	return &Cluster{
		Name: i.name, Kubeconfig: i.kubeconfig(), Kubectl: i.programs["kubectl"],
		AuditLog: filepath.Join(i.dir(), "logs", "audit.log"), ours: true,
	}
}

// stall is how long an API server may leave requests unanswered before it counts as hung.
const stall = 2 * time.Minute

// lifecycle is how the cluster is brought up, with as many nodes.
func (i *instance) lifecycle(options Options) *lifecycle.Instance {
	return &lifecycle.Instance{
		What: "cluster " + i.name, Dir: i.dir(), Progress: i.progress, Patience: patience, Stall: stall,
		Recipe: i.recipe(), Components: components(), Answers: i.cluster().answers,
		Create: func(ctx context.Context) error { return i.create(ctx, options.Nodes) },
		End:    func(ctx context.Context) error { return processes.End(ctx, i.dir()) },
	}
}

func (i *instance) up(ctx context.Context, options Options) error {
	if made, err := i.lifecycle(options).Up(ctx); err != nil || made {
		return err
	}
	defer i.supervised(ctx)()
	return poll.Within(ctx, patience, func(ctx context.Context) error { return i.settle(ctx, options.Nodes) })
}

// recipe is everything that a cluster is made from.
func (i *instance) recipe() string {
	var recipe strings.Builder
	for _, name := range slices.Sorted(maps.Keys(i.programs)) {
		fmt.Fprintf(&recipe, "%s: %s\n", name, i.programs[name])
	}
	return recipe.String() + nodes + "\n" + configuration + written + i.auditPolicy
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
	defer i.supervised(ctx)()
	if err := i.kwokctl(ctx, append(args, audit...)...); err != nil {
		return err
	}
	return i.settle(ctx, count)
}

// audit returns the arguments for an audit log of the API server, if there is a policy.
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
	// A single file: with a limit of size, the API server would rotate the log at 100 MB.
	args = []string{"--kube-audit-policy", file.Name(), "--extra-args", "kube-apiserver=audit-log-maxsize=100000"}
	return args, func() { _ = os.Remove(file.Name()) }, nil
}

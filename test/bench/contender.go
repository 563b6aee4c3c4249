package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/tools/toolchain"
)

// contender is an operator, or another program, that creates the objects of AppServices.
type contender struct {
	letter, title string
	version       schema.GroupVersion // of its AppServices
	account       account             // whose rights it has
	build         func(context.Context) error
	command       func(metrics string) (program string, args []string, err error) // nil: the benchmark writes itself
	env           []string                                                        // further variables
	newChart      func() (args []string, err error)                               // start it with another chart; nil: not measured
	install       func(context.Context)                                           // installs what it needs while it runs; nil for nothing
}

func (c *contender) String() string { return "(" + c.letter + ") " + c.title }

// stockVersion is the AppService of the stock operators. They write a status that the schema of ours has no room for, so
// they get a kind of their own, with a schema as the SDK scaffolds it.
var stockVersion = schema.GroupVersion{Group: "stock.example.com", Version: "v1"}

// contenders returns the selected ones, in order.
func (b *bench) contenders() []*contender {
	admin := func(name string) account { return account{namespace: system, name: name, admin: true} }
	chart := filepath.Join(b.root, "helm-charts", "appservice")
	var helmOperator string
	all := []*contender{
		{letter: "a", title: "bare writes", version: v1.GroupVersion, account: admin("bare")},
		{
			letter: "b", title: "plain controller", version: v1.GroupVersion, account: admin("reference"),
			build: func(ctx context.Context) error { return b.compile(ctx, "reference", "./test/bench/reference") },
			command: func(metrics string) (string, []string, error) {
				return b.program("reference"), []string{"--metrics-bind-address=" + metrics}, nil
			},
		},
		{
			letter: "c", title: "helm-operator v1.42.3", version: stockVersion, account: admin("helm-operator"),
			build: func(ctx context.Context) error {
				programs, err := toolchain.Ensure(ctx, b.out, "helm-operator")
				helmOperator = programs["helm-operator"]
				return err
			},
			command: func(metrics string) (string, []string, error) {
				watches := filepath.Join(b.folder, "watches.yaml")
				text := fmt.Sprintf("- group: %s\n  version: v1\n  kind: AppService\n  chart: %s\n", stockVersion.Group, chart)
				return helmOperator, []string{
					"run", "--watches-file=" + watches, "--max-concurrent-reconciles=16", "--metrics-secure=false",
					"--metrics-bind-address=" + metrics, "--health-probe-bind-address=127.0.0.1:0",
				}, os.WriteFile(watches, []byte(text), 0o644)
			},
		},
		{
			letter: "d", title: "helm-operator-plugins", version: stockVersion, account: admin("stock"),
			build: func(ctx context.Context) error { return b.compile(ctx, "stock", "./test/bench/stock") },
			command: func(metrics string) (string, []string, error) {
				return b.program("stock"), []string{"--metrics-bind-address=" + metrics, "--chart=" + chart, "--group=" + stockVersion.Group}, nil
			},
		},
		{
			letter: "e", title: "this operator", version: v1.GroupVersion,
			account: account{namespace: "appservice-operator-system", name: "appservice-operator-controller-manager"},
			build:   func(ctx context.Context) error { return b.compile(ctx, "manager", "./cmd/manager") },
			command: func(metrics string) (string, []string, error) {
				args, err := b.api.productionArgs()
				return b.program("manager"), append(args, "--max-concurrent-reconciles=16", "--policy=", // there is no volume here: the built-in policy
					"--leader-election-namespace=appservice-operator-system", "--health-probe-bind-address=127.0.0.1:0",
					"--metrics-secure=false", "--metrics-bind-address="+metrics), err
			},
			newChart: b.newChart,
		},
		b.kro(),
	}
	var taking []*contender
	for _, c := range all {
		if strings.Contains(b.letters, c.letter) {
			taking = append(taking, c)
		}
	}
	return taking
}

func (b *bench) program(name string) string { return filepath.Join(b.folder, name) }

// compile builds a program of the repository as make build does.
func (b *bench) compile(ctx context.Context, name, path string) error {
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", b.program(name), path)
	command.Dir = b.root
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

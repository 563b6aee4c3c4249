// Package cli runs kubectl appservice as people do: the program itself behind a real kubectl, against a control plane with a running operator,
// and without any network where a command says that it needs none. Every example of every help text is run.
package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/toolchain"
)

var (
	cluster *harness.Cluster
	// root is the repository, and programs the folder of kubectl, kubectl-appservice and what completes it.
	root, programs string
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	harness.Log()
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "appservice-cli-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		err = install(ctx, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot build the programs:", err)
		return 1
	}
	var stop func()
	cluster, stop, err = harness.Start(ctx, cmp.Or(os.Getenv("CLUSTER_NAME"), "appservice-cli"))
	if stop != nil {
		defer stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot start the cluster:", err)
		return 1
	}
	return m.Run()
}

// install puts the programs into a folder, as krew puts them on people's PATH.
func install(ctx context.Context, dir string) (err error) {
	if root, err = toolchain.Root(); err != nil {
		return err
	}
	programs = dir
	built := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "kubectl-appservice"), "./cmd/kubectl-appservice")
	built.Dir, built.Stderr = root, os.Stderr
	if err := built.Run(); err != nil {
		return err
	}
	tools, err := toolchain.Ensure(ctx, os.Stderr, "kubectl")
	if err != nil {
		return err
	}
	const complete = "kubectl_complete-appservice"
	if err := os.Symlink(filepath.Join(root, "cmd/kubectl-appservice", complete), filepath.Join(dir, complete)); err != nil {
		return err
	}
	return os.Symlink(tools["kubectl"], filepath.Join(dir, "kubectl"))
}

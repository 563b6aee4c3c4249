//go:build cluster

// Package cli runs kubectl appservice as users do: the program itself behind a real kubectl, against a control plane with a running operator, and
// without any network if a command says that it needs none. Every example of every help text is run.
package cli

import (
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
	harness.Log()
	harness.Main("appservice-cli", func(ctx context.Context, started *harness.Cluster) (int, error) {
		cluster = started
		dir, err := os.MkdirTemp("", "appservice-cli-")
		if err != nil {
			return 1, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if err := install(ctx, dir); err != nil {
			return 1, fmt.Errorf("cannot build the programs: %w", err)
		}
		return m.Run(), nil
	})
}

// install puts the programs into a folder, as krew does in users' PATH.
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

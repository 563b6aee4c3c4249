//go:build cluster

// Package dashboard opens the page of kubectl appservice dashboard in a real browser, against a real control plane. It is a
// module of its own, because nothing else needs a browser.
package dashboard

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

// chromium is the browser, as Debian calls it.
const chromium = "chromium"

var (
	cluster *harness.Cluster
	// program is kubectl-appservice.
	program string
)

func TestMain(m *testing.M) {
	harness.Log()
	harness.Main("appservice-dashboard", func(ctx context.Context, started *harness.Cluster) (int, error) {
		cluster = started
		dir, err := os.MkdirTemp("", "appservice-dashboard-")
		if err != nil {
			return 1, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		root, err := toolchain.Root()
		if err != nil {
			return 1, err
		}
		program = filepath.Join(dir, "kubectl-appservice")
		built := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/kubectl-appservice")
		built.Dir, built.Stderr = root, os.Stderr
		if err := built.Run(); err != nil {
			return 1, fmt.Errorf("cannot build the plugin: %w", err)
		}
		return m.Run(), nil
	})
}

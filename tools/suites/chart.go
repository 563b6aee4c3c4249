package suites

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/example/appservice-operator/tools/toolchain"
)

// chartTests runs the charts' own tests on a copy: helm-unittest leaves folders beside them, which would be in images
// of the charts.
func chartTests(r *runner) error {
	copied, err := os.MkdirTemp("", "appservice-charts-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(copied) }()
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(r.root, "helm-charts"))); err != nil {
		return fmt.Errorf("cannot copy the charts: %w", err)
	}
	charts, err := filepath.Glob(filepath.Join(copied, "*"))
	if err != nil {
		return err
	}
	return command{args: slices.Concat(toolchain.Pinned(r.root, "helm-unittest"), words("--strict"), charts)}.run(r)
}

//go:build cluster

package chart

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/page"
)

// TestThePageForChartMaintainersWorks runs everything on the page, in its order.
func TestThePageForChartMaintainersWorks(t *testing.T) {
	s := session{copyOfRepository(t), filepath.Join(t.TempDir(), "environment")}
	shown, _, found := strings.Cut(s.read(t, "docs/chart-maintainers.md"), "\n## Reference\n")
	require.True(t, found, "the page has no reference")
	list, err := page.Blocks(shown)
	require.NoError(t, err)
	cluster := "CLUSTER_NAME=" + cmp.Or(os.Getenv("CLUSTER_NAME"), "appservice-chart") + "-page"
	t.Cleanup(func() {
		if output, err := s.shell(context.WithoutCancel(t.Context()), "go run ./tools/cmd/cluster down", cluster); err != nil {
			t.Errorf("the cluster of the page does not end: %v\n%s", err, output)
		}
	})
	ran := 0
	for _, b := range list {
		if b.Language != "console" {
			s.apply(t, b)
			continue
		}
		for _, c := range b.Commands() {
			s.do(t, c, cluster)
			ran++
		}
	}
	assert.NotZero(t, ran, "the page has no commands")
}

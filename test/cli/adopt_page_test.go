//go:build cluster

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The pages about adoption and import show what happens.
func TestAdoptionIsAsThePageShows(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	manager := cluster.Manager(t, u.namespace)
	u.helm(t, "adopt/chart", "web")
	u.running(t)
	u.follows(t, manager, "adopt.md")

	const begin, end = "$ kubectl appservice import deployment/legacy --notes comments > app.yaml\n", "```\n"
	var shown []string
	for _, page := range []string{"adopt.md", "import.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", page))
		require.NoError(t, err)
		_, after, found := strings.Cut(string(text), begin)
		require.True(t, found, "%s does not show %s", page, begin)
		block, _, _ := strings.Cut(after, end)
		shown = append(shown, block)
	}
	assert.EqualValues(t, shown[1], shown[0], "adopt.md shows\n%simport.md shows\n%s", shown[0], shown[1])
}

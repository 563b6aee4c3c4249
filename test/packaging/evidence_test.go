package packaging

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The capability level that the bundle claims is the one that has evidence, and every test that is named as such is there.
func TestEvidenceIsThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/capability-levels.md"))
	require.NoError(t, err)
	if title := "# Capability level: " + csv(t).GetAnnotations()["capabilities"] + "\n"; !strings.HasPrefix(string(text), title) {
		t.Errorf("the document does not begin with %q", title)
	}
	var sources [][]byte
	for _, folder := range []string{"api", "internal", "test"} {
		visit := func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			sources = append(sources, source)
			return err
		}
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), visit))
	}
	all := bytes.Join(sources, nil)
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllSubmatch(text, -1)
	assert.NotEmpty(t, named, "the document names no tests")
	for _, name := range named {
		assert.True(t, bytes.Contains(all, []byte("func "+string(name[1])+"(t *testing.T)")), "there is no %s", name[1])
	}
}

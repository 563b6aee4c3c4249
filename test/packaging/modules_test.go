package packaging

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The pattern ./... ends where another module begins, so each module has to be named.
func TestEachModuleIsVettedLintedAndTested(t *testing.T) {
	suites, found := "tools/suites/suites.go", 0
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir := path.Dir(file)
		switch {
		case entry.IsDir() && (file == "tools/pins" || entry.Name() == "testdata" || entry.Name() == ".git"):
			return fs.SkipDir // of programs that are pinned, or of tests
		case entry.Name() == "go.mod" && dir != ".":
			found++
			for line, in := range map[string]string{"\tgo vet -C " + dir + " ": "Makefile",
				"\tcd " + dir + " && $(call tool,golangci-lint) run\n": "Makefile", `goTest{module: "` + dir + `"`: suites} {
				assert.True(t, strings.Contains(text(t, root+"/"+in), line), "%s has no %q", in, line)
			}
		}
		return nil
	}))
	assert.NotZero(t, found)
}

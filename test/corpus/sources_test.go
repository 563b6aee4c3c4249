package corpus

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// source is an entry of SOURCES.yaml: one application, of one file or of the files of one folder.
type source struct {
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
	License    string `json:"license"`
	Files      []struct {
		Path   string `json:"path"`
		SHA256 string `json:"sha256"`
	} `json:"files"`
}

func (s source) name() string { return s.Repository + "/" + s.Files[0].Path }

// read returns the sources of the manifests.
func read(t *testing.T) (sources []source) {
	t.Helper()
	text, err := os.ReadFile("SOURCES.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &sources))
	return sources
}

func TestSourcesSayWhereEachManifestIs(t *testing.T) {
	sources, repositories := read(t), map[string]bool{}
	for _, from := range sources {
		repositories[from.Repository] = true
		require.NotEmpty(t, from.Files, from.Repository)
		assert.Regexp(t, `^[0-9a-f]{40}$`, from.Commit, from.name())
		assert.Contains(t, []string{"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "MPL-2.0", "CC0-1.0", "ISC", "Unlicense"}, from.License, from.name())
		for _, file := range from.Files {
			assert.Regexp(t, `^[0-9a-f]{64}$`, file.SHA256, file.Path)
		}
	}
	assert.GreaterOrEqual(t, len(sources), 150)
	assert.GreaterOrEqual(t, len(repositories), 40)
}

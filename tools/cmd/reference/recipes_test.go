package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheRecipesAreThoseOfTheSamples(t *testing.T) {
	const root = "../../.."
	want, err := recipes(root)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(root, recipesFile))
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "%s is out of date: make generate", recipesFile)
}

func TestASampleIsARecipe(t *testing.T) {
	one, err := readRecipe("web.yaml", "# Expose: gRPC (GRPCRoute)\n# One line,\n# another.\n# kubectl create secret x\napiVersion: v1\nkind: AppService\nspec:\n  size: 1\n")
	require.NoError(t, err)
	assert.Equal(t, recipe{"web.yaml", "Expose", "gRPC (GRPCRoute)", "One line,\nanother.", []string{"# kubectl create secret x"}, "spec:\n  size: 1\n"}, one)
	job, err := readRecipe("job.yaml", "# Jobs: once\nkind: AppJob\nspec:\n  image: x\n")
	require.NoError(t, err)
	assert.Equal(t, "kind: AppJob\nspec:\n  image: x\n", job.yaml, "of another kind, all is shown")
	assert.Contains(t, recipesPage([]recipe{job, one}), "[Jobs](#jobs), [Expose](#expose).\n\n## Jobs\n\n### Once\n")
	for _, untitled := range []string{"kind: AppService\n", "# No group\nkind: AppService\n"} {
		_, err = readRecipe("web.yaml", untitled)
		assert.ErrorContains(t, err, "config/samples/web.yaml: the first line")
	}
}

package plugin

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestTheCheatSheetHasEachCommand(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/cheatsheet.md")
	require.NoError(t, err)
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	for _, command := range New(streams).Commands() {
		assert.Contains(t, string(page), "`"+command.Name(), "docs/cheatsheet.md lacks a command")
	}
}

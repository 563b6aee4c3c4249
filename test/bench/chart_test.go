package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheOtherChartChangesTheImage(t *testing.T) {
	b := &bench{settings: settings{n: 5000}, root: filepath.Join("..", ".."), folder: t.TempDir()}
	args, err := b.newChart()
	require.NoError(t, err)
	assert.Equal(t, []string{"--chart-dir=" + filepath.Join(b.folder, "next"), "--max-concurrent-rollouts=50"}, args)
	text, err := os.ReadFile(filepath.Join(b.folder, "next", "helm-charts", "appservice", "templates", "_pod.tpl"))
	require.NoError(t, err)
	assert.Contains(t, string(text), `.Values.image | printf "%s-next" | quote`)
}

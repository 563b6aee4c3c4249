package operator

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServedNamesEachKindWithItsChart(t *testing.T) {
	var options Options
	options.Bind(flag.NewFlagSet("", flag.ContinueOnError))
	lines, err := options.Served()
	require.NoError(t, err)
	require.Len(t, lines, 2)
	assert.Regexp(t, `^AppJob: chart appjob-\S+, digest [0-9a-f]{12}$`, lines[0])
	assert.Regexp(t, `^AppService: chart appservice-\S+, digest [0-9a-f]{12}$`, lines[1])
	options.WatchesFile = "/nonexistent"
	_, err = options.Served()
	require.Error(t, err)
}

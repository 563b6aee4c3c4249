package operator

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServedNamesEachKindWithItsChart(t *testing.T) {
	var options Options
	options.Bind(flag.NewFlagSet("", flag.ContinueOnError))
	lines, err := options.Served()
	require.NoError(t, err)
	all := strings.Join(lines, "\n") // further kinds may have been added
	assert.Regexp(t, `(?m)^AppJob: chart appjob-\S+, digest [0-9a-f]{12}$`, all)
	assert.Regexp(t, `(?m)^AppService: chart appservice-\S+, digest [0-9a-f]{12}$`, all)
	options.WatchesFile = "/nonexistent"
	_, err = options.Served()
	require.Error(t, err)
}

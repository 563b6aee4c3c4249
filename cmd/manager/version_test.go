package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/internal/operator"
)

func TestTheVersionNamesTheChartsAndTheirDigests(t *testing.T) {
	var out bytes.Buffer
	options := operator.Options{}
	options.Bind(flag.NewFlagSet("", flag.ContinueOnError))
	require.NoError(t, printVersion(&out, options))
	assert.Regexp(t, `^appservice-operator \S+(, commit [0-9a-f]{12}\+?)?\n`+
		`AppJob: chart appjob-\d+\.\d+\.\d+, digest [0-9a-f]+\nAppService: chart appservice-\d+\.\d+\.\d+, digest [0-9a-f]+\n(\w+: .*\n)*$`, out.String())

	out.Reset()
	require.NoError(t, printServed(&out, options, "ok"))
	assert.Regexp(t, `^AppJob: .*\nAppService: .*\n(\w+: .*\n)*ok\n$`, out.String())

	broken := filepath.Join(t.TempDir(), "watches.yaml")
	require.NoError(t, os.WriteFile(broken, []byte("- kind: x"), 0o600))
	options.WatchesFile = broken
	require.Error(t, printServed(&out, options, "ok"))
}

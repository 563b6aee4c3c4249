//go:build cluster

// Package chart holds the operator to what it promises to chart maintainers: that they need no Go, that mistakes are named where
// they are, that a change shows at once, and that no chart takes down a fleet.
//
// Tests say with show what they found, and the last line of a run sums that up.
package chart

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/harness"
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	harness.Log()
	code := m.Run()
	stopCluster()
	if flag.Lookup("test.list").Value.String() != "" {
		return code
	}
	fmt.Println(shown.line())
	if missing := shown.missing(); len(missing) > 0 && harness.AllTests() {
		fmt.Fprintln(os.Stderr, "no test has shown", strings.Join(missing, ", "))
		return 1
	}
	return code
}

// stopCluster ends the cluster, if a test has started it.
var stopCluster = func() {}

// startCluster starts the cluster that the tests share when the first of them asks for it: many need none.
var startCluster = sync.OnceValues(func() (*harness.Cluster, error) {
	cluster, stop, err := harness.Start(context.Background(), "appservice-chart")
	if stop != nil {
		stopCluster = stop
	}
	return cluster, err
})

// controlPlane returns the cluster that the tests share.
func controlPlane(t *testing.T) *harness.Cluster {
	t.Helper()
	cluster, err := startCluster()
	require.NoError(t, err, "cannot start the cluster")
	return cluster
}

// Package integration tests the operator against a real API server, garbage collector, scheduler and Deployment
// controller; only the nodes are simulated. Each test has a namespace and a manager of its own.
package integration

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/example/appservice-operator/test/harness"
)

var cluster *harness.Cluster

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	harness.Log()
	var stop func()
	var err error
	cluster, stop, err = harness.Start(context.Background(), cmp.Or(os.Getenv("CLUSTER_NAME"), "appservice-integration"), harness.Audited)
	if stop != nil {
		defer stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot start the cluster:", err)
		return 1
	}
	code := m.Run()
	if rows := refusals.rows.Load(); rows > 0 {
		fmt.Printf("REFUSALS rows=%d seen=%d healed=%d\n", rows, refusals.seen.Load(), refusals.healed.Load())
	}
	if !rightsAreThoseUsed(code == 0) && code == 0 {
		code = 1
	}
	return code
}

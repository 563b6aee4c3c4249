//go:build cluster

// Package integration tests the operator against a real API server, garbage collector, scheduler and Deployment
// controller; only the nodes are simulated. Each test has a namespace and a manager of its own.
package integration

import (
	"context"
	"fmt"
	"testing"

	"github.com/example/appservice-operator/test/harness"
)

var cluster *harness.Cluster

func TestMain(m *testing.M) {
	harness.Log()
	harness.Main("appservice-integration", func(ctx context.Context, started *harness.Cluster) (int, error) {
		cluster = started
		if err := noticeWrites(ctx); err != nil {
			return 1, err
		}
		code := m.Run()
		if rows := refusals.rows.Load(); rows > 0 {
			fmt.Printf("REFUSALS rows=%d seen=%d healed=%d\n", rows, refusals.seen.Load(), refusals.healed.Load())
		}
		if own, used := writesAreOwn(), rightsAreThoseUsed(code == 0); (!own || !used) && code == 0 {
			code = 1
		}
		return code, nil
	}, harness.Audited)
}

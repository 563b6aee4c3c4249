// Package olm tests bundle and catalog with OLM itself: its two operators and a catalog's server run as processes beside a
// control plane with simulated nodes, so that pods become ready and run no containers. It needs neither root nor images.
package olm

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/example/appservice-operator/tools/controlplane"
)

// clusterName is that of the control plane, which no other tests use: OLM is there for all of it.
const clusterName = "appservice-olm"

var lab *laboratory

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx := context.Background()
	defer func() { _ = controlplane.Down(ctx, clusterName) }()
	var err error
	lab, err = start(ctx)
	if lab != nil {
		defer lab.stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot start OLM:", err)
		return 1
	}
	code := m.Run()
	if code != 0 {
		lab.tell(os.Stderr)
	}
	return code
}

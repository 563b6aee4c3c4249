//go:build cluster

package olm

import (
	"context"
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/connect"
	"github.com/example/appservice-operator/tools/controlplane"
)

// clusterName is that of the control plane, which no other tests use: OLM is there for all of it.
const clusterName = "appservice-olm"

// lab is OLM beside that control plane, direct its client.
var (
	lab    *Instance
	direct client.Client
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx := context.Background()
	defer func() { _ = controlplane.Down(ctx, clusterName) }()
	err := start(ctx)
	if lab != nil {
		defer lab.Stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot start OLM:", err)
		return 1
	}
	code := m.Run()
	if code != 0 {
		lab.Tell(os.Stderr)
	}
	return code
}

func start(ctx context.Context) error {
	cluster, err := controlplane.Up(ctx, controlplane.Options{Name: clusterName, Progress: os.Stderr})
	if err != nil {
		return err
	}
	if _, direct, err = connect.To(cluster.Kubeconfig); err != nil {
		return err
	}
	lab, err = Start(ctx, Cluster{Kubeconfig: cluster.Kubeconfig, Kubectl: cluster.Kubectl, Client: direct})
	return err
}

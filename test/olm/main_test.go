package olm

import (
	"context"
	"fmt"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if direct, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	lab, err = Start(ctx, Cluster{Kubeconfig: cluster.Kubeconfig, Kubectl: cluster.Kubectl, Client: direct})
	return err
}

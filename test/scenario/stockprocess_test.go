//go:build cluster

package scenario

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/operator-framework/helm-operator-plugins/pkg/reconciler"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// stockProcess is an operator of the stock library that can die.
type stockProcess struct {
	incarnation *harness.Incarnation
	cancel      context.CancelFunc
}

// end ends the operator at once.
func (p *stockProcess) end() {
	p.incarnation.Die()
	p.cancel()
}

func launchStock(t *testing.T, namespace string) *stockProcess {
	t.Helper()
	chart, err := loader.Load(filepath.Join(files.Root(t), "helm-charts/appservice"))
	require.NoError(t, err)
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	process := &stockProcess{incarnation: wire.Incarnation()}
	connection := rest.CopyConfig(cluster.Config)
	connection.WrapTransport = process.incarnation.Wrap
	mgr, err := manager.New(connection, manager.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	require.NoError(t, err)
	r, err := reconciler.New(reconciler.WithChart(*chart), reconciler.WithGroupVersionKind(stockKind), reconciler.WithMaxConcurrentReconciles(1))
	require.NoError(t, err)
	require.NoError(t, r.SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	process.cancel = cancel
	t.Cleanup(process.end)
	go func() { _ = mgr.Start(ctx) }()
	return process
}

func installStockCRD(t *testing.T) {
	t.Helper()
	cluster.Install(t, files.CRD(t, "test/bench/stock-crd.yaml"))
}

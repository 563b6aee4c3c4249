package fault

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/operator-framework/helm-operator-plugins/pkg/reconciler"
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
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	process := &stockProcess{incarnation: wire.Incarnation()}
	connection := rest.CopyConfig(cluster.Config)
	connection.WrapTransport = process.incarnation.Wrap
	mgr, err := manager.New(connection, manager.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := reconciler.New(reconciler.WithChart(*chart), reconciler.WithGroupVersionKind(stockKind), reconciler.WithMaxConcurrentReconciles(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
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

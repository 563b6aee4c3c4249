// Command stock is the reconciler of helm-operator-plugins as it comes, with the shipped chart: what the benchmark
// compares the operator with.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/operator-framework/helm-operator-plugins/pkg/reconciler"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/example/appservice-operator/test/try"
)

func main() {
	if err := try.Catch(run); err != nil {
		fmt.Fprintln(os.Stderr, "stock:", err)
		os.Exit(1)
	}
}

func run() {
	metrics := flag.String("metrics-bind-address", "0", "address to serve metrics on")
	folder := flag.String("chart", "", "folder of the chart")
	group := flag.String("group", "", "API group of AppService v1")
	workers := flag.Int("max-concurrent-reconciles", 16, "resources that are reconciled at a time")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	chart := try.Get(loader.Load(*folder))
	scheme := runtime.NewScheme()
	try.Do(clientgoscheme.AddToScheme(scheme))
	config := try.Get(ctrl.GetConfig())
	config.QPS = -1
	config.UserAgent = "stock"
	mgr := try.Get(ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: *metrics}}))
	r := try.Get(reconciler.New(
		reconciler.WithChart(*chart),
		reconciler.WithGroupVersionKind(schema.GroupVersionKind{Group: *group, Version: "v1", Kind: "AppService"}),
		reconciler.WithMaxConcurrentReconciles(*workers),
	))
	try.Do(r.SetupWithManager(mgr))
	try.Do(mgr.Start(ctrl.SetupSignalHandler()))
}

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
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "stock:", err)
		os.Exit(1)
	}
}

func run() error {
	metrics := flag.String("metrics-bind-address", "0", "address to serve metrics on")
	folder := flag.String("chart", "", "folder of the chart")
	group := flag.String("group", "", "API group of AppService v1")
	workers := flag.Int("max-concurrent-reconciles", 16, "resources that are reconciled at a time")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	chart, err := loader.Load(*folder)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1
	config.UserAgent = "stock"
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: *metrics}})
	if err != nil {
		return err
	}
	r, err := reconciler.New(
		reconciler.WithChart(*chart),
		reconciler.WithGroupVersionKind(schema.GroupVersionKind{Group: *group, Version: "v1", Kind: "AppService"}),
		reconciler.WithMaxConcurrentReconciles(*workers),
	)
	if err != nil {
		return err
	}
	if err := r.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

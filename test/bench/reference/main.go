// Command reference is what the benchmark measures the operator against: a plain controller of AppServices, without Helm
// and without templates, written to be fast. It makes the objects that the chart renders for the benchmark's spec, and
// knows no other field.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
)

func main() {
	if err := try.Catch(run); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run() {
	metrics := flag.String("metrics-bind-address", "0", "address to serve metrics on")
	workers := flag.Int("max-concurrent-reconciles", 16, "resources that are reconciled at a time")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	try.Do(clientgoscheme.AddToScheme(scheme))
	try.Do(v1.AddToScheme(scheme))
	config := try.Get(ctrl.GetConfig())
	config.QPS = -1
	config.UserAgent = "reference"
	mgr := try.Get(ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: *metrics},
		Cache:   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
	}))
	try.Do((&reconciler{Client: mgr.GetClient()}).setup(mgr, *workers))
	try.Do(mgr.Start(ctrl.SetupSignalHandler()))
}

// Command manager is the operator: it serves the kinds of watches.yaml, AppService first.
package main

import (
	"flag"
	"fmt"
	"os"

	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/internal/version"
)

func main() {
	if err := run(); err != nil {
		all := []error{err}
		if joined, several := err.(interface{ Unwrap() []error }); several {
			all = joined.Unwrap()
		}
		for _, each := range all {
			fmt.Fprintf(os.Stderr, "manager: %s\n", text.Line(each.Error()))
		}
		os.Exit(1)
	}
}

// loudest is the most verbose log level, 6: from 8 on, the client logs the bodies of requests and responses, including
// those of Secrets.
const loudest zapcore.Level = -6

func run() error {
	if err := tuneCollector(); err != nil {
		return err
	}
	var options operator.Options
	var logging zap.Options
	options.Bind(flag.CommandLine)
	logging.BindFlags(flag.CommandLine)
	says := flag.Bool("version", false, "print the version, the commit, and the charts of all kinds, and end")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not a flag: see --help", flag.Arg(0))
	}
	if *says {
		return printVersion(os.Stdout, options)
	}
	if options.Check {
		var cluster *rest.Config
		if flag.Lookup("kubeconfig").Value.String() != "" {
			var err error
			if cluster, err = config.GetConfig(); err != nil {
				return fmt.Errorf("cannot find the cluster of --kubeconfig: %w", err)
			}
		}
		warnings, err := operator.CheckFiles(options, cluster)
		for _, warning := range warnings {
			fmt.Fprintln(os.Stderr, "warning: "+warning)
		}
		if err != nil {
			return err
		}
		return printServed(os.Stdout, options, "ok")
	}

	// There is no logger yet: errors are returned, and main prints them.
	cluster, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot find a cluster: set KUBECONFIG or --kubeconfig, or run inside one: %w", err)
	}
	if logging.Level != nil && logging.Level.Enabled(loudest-1) {
		logging.Level = loudest
	}
	log.SetLogger(zap.New(zap.UseFlagOptions(&logging)))
	mgr, err := operator.New(cluster, options)
	if err != nil {
		return err
	}
	log.Log.Info("manager starting", "version", version.Version, "namespaces", options.WatchNamespaces)
	return mgr.Start(signals.SetupSignalHandler())
}

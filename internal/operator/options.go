// Package operator assembles the manager: it reads watches.yaml and charts, sets up caches, and adds a controller for
// each kind. It is the only place where all options are read.
package operator

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validation"

	appservice "github.com/example/appservice-operator"
	"github.com/example/appservice-operator/internal/engine/chart"
)

// Options are the settings of the operator, as its flags set them.
type Options struct {
	// WatchesFile is the path of a watches file; empty for the embedded one.
	WatchesFile string
	// ChartDir is the folder to which chart paths of the watches file are relative; empty for the embedded charts.
	ChartDir string
	// Policy is the path of the platform's policy; empty, or without a file there, for the built-in policy Shared alone.
	Policy string
	// Check only reads the configuration.
	Check bool
	// KubeVersion is the version of Kubernetes that Check compares charts with; empty for that of the cluster, if one is
	// given.
	KubeVersion string
	// WatchNamespaces are the namespaces to serve; none for all.
	WatchNamespaces []string
	// MaxConcurrentReconciles is how many resources of a kind are reconciled at a time.
	MaxConcurrentReconciles int
	// ReconcileTimeout is how long one reconcile may take; 0 for any time.
	ReconcileTimeout time.Duration
	// MaxConcurrentRollouts is how many resources roll their pods at a time if a new chart or operator causes it.
	MaxConcurrentRollouts int
	// MaxFailedRollouts is how many resources of a kind may not become ready with a new chart or operator before that is
	// halted.
	MaxFailedRollouts int
	// RolloutDeadline is how long such a resource may take for each replica to become available.
	RolloutDeadline time.Duration
	// HistoryMax is how many release records are kept of each resource, the newest included.
	HistoryMax int
	// LeaderElection lets only one of several replicas of the operator work at a time.
	LeaderElection bool
	// LeaderElectionNamespace holds the lease; empty for the namespace that the operator runs in.
	LeaderElectionNamespace string
	// MetricsAddress serves metrics; "0" for none.
	MetricsAddress string
	// MetricsSecure serves them with TLS to clients that may read /metrics.
	MetricsSecure bool
	// MetricsCertificate is the certificate for that.
	MetricsCertificate Certificate
	// HTTP2 serves metrics with HTTP/2, too, with which a client can cause much work with few bytes.
	HTTP2 bool
	// ProbeAddress serves /healthz and /readyz; "0" for none.
	ProbeAddress string
}

// mostHistory limits the number of records: each may have a megabyte in etcd, and is in the cache.
const mostHistory = 50

// Bind defines the flags of the options and sets their defaults.
func (o *Options) Bind(flags *flag.FlagSet) {
	flags.StringVar(&o.WatchesFile, "watches-file", "",
		"file that says which kinds are served, and with which chart (default: the embedded watches.yaml)")
	flags.StringVar(&o.ChartDir, "chart-dir", "",
		"folder that the chart paths of the watches file start from (default: the embedded charts, or the folder of --watches-file)")
	flags.StringVar(&o.Policy, "policy", "",
		"file with the rules for workloads and routes by namespace (default, and if there is no such file: the built-in policy shared)")
	flags.BoolVar(&o.Check, "check", false, "read watches, charts and the policy, and with --kubeconfig the CRDs and rights of a cluster, say all that is wrong, and end")
	flags.StringVar(&o.KubeVersion, "kube-version", "",
		"version of Kubernetes that --check compares with the kubeVersion of charts, such as 1.36 (default: that of --kubeconfig)")
	o.WatchNamespaces = splitList(os.Getenv("WATCH_NAMESPACE"))
	flags.Func("watch-namespaces", "comma-separated namespaces to serve (default: WATCH_NAMESPACE, else all)",
		func(value string) error {
			o.WatchNamespaces = splitList(value)
			return nil
		})
	flags.IntVar(&o.MaxConcurrentReconciles, "max-concurrent-reconciles", 16,
		"resources of a kind that are reconciled at a time")
	flags.DurationVar(&o.ReconcileTimeout, "reconcile-timeout", 2*time.Minute,
		"time after which a reconcile ends, to be tried again: requests that are never answered must not hold up other resources")
	flags.IntVar(&o.MaxConcurrentRollouts, "max-concurrent-rollouts", 10,
		"resources that roll their pods at a time where a new chart or operator causes it")
	flags.IntVar(&o.MaxFailedRollouts, "max-failed-rollouts", 3,
		"resources of a kind that may not become ready with a new chart or operator before it goes no further")
	flags.DurationVar(&o.RolloutDeadline, "rollout-deadline", 15*time.Minute,
		"time in which replicas have to become available after a new chart or operator has restarted pods, whatever the spec says")
	flags.IntVar(&o.HistoryMax, "history-max", 5,
		"release records that are kept of each resource, the newest included: what kubectl appservice history and undo, and helm history, know of")
	flags.BoolVar(&o.LeaderElection, "leader-elect", false, "let one of several managers work at a time")
	flags.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "",
		"namespace of the lease (default: the one that the manager runs in)")
	o.bindMetrics(flags)
	flags.StringVar(&o.ProbeAddress, "health-probe-bind-address", "127.0.0.1:8081",
		"address to serve /healthz and /readyz on; 0 for none")
}

func splitList(value string) []string {
	var list []string
	for _, item := range strings.Split(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// validate returns an error that names an invalid option.
func (o *Options) validate() error {
	for _, namespace := range o.WatchNamespaces {
		if problems := validation.ValidateNamespaceName(namespace, false); len(problems) > 0 {
			return fmt.Errorf("--watch-namespaces (or WATCH_NAMESPACE) has %q, which cannot be the name of a namespace: %s",
				namespace, problems[0])
		}
	}
	if o.MaxConcurrentReconciles < 1 {
		return fmt.Errorf("--max-concurrent-reconciles must be at least 1, not %d", o.MaxConcurrentReconciles)
	}
	if o.ReconcileTimeout < 0 {
		return fmt.Errorf("--reconcile-timeout must not be below 0, as %s is", o.ReconcileTimeout)
	}
	if o.MaxConcurrentRollouts < 1 {
		return fmt.Errorf("--max-concurrent-rollouts must be at least 1, not %d", o.MaxConcurrentRollouts)
	}
	if o.MaxFailedRollouts < 0 {
		return fmt.Errorf("--max-failed-rollouts must not be below 0, as %d is", o.MaxFailedRollouts)
	}
	if o.RolloutDeadline <= 0 {
		return fmt.Errorf("--rollout-deadline must be above 0, not %s", o.RolloutDeadline)
	}
	if o.HistoryMax < 1 || o.HistoryMax > mostHistory {
		return fmt.Errorf("--history-max must be at least 1 and at most %d, not %d", mostHistory, o.HistoryMax)
	}
	return o.validateMetrics()
}

// charts loads the watches file and its charts from the locations in the options.
func (o *Options) charts() (*charts, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	out := &charts{files: appservice.Files, namespaces: o.WatchNamespaces}
	if len(out.namespaces) == 0 {
		out.namespaces = []string{""}
	}
	text, err := fs.ReadFile(appservice.Files, "watches.yaml")
	if o.WatchesFile != "" {
		text, err = os.ReadFile(o.WatchesFile)
		out.folder = filepath.Dir(o.WatchesFile)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read watches: %w", err)
	}
	if o.ChartDir != "" {
		out.folder = o.ChartDir
	}
	if out.folder != "" {
		out.files = os.DirFS(out.folder)
		if _, err := os.Stat(out.folder); err != nil {
			return nil, fmt.Errorf("cannot read the charts: %w", err)
		}
	}
	if out.list, out.broken, err = chart.ReadWatches(text, out.files); err != nil {
		return nil, err
	}
	return out, out.broken.Fatal(out.list)
}

package operator

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/watch"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/metrics"
)

// Name of the operator: as event reporter, user agent and name of the lease.
const Name = "appservice-operator"

// shutdown is how long a running action may take when the manager has to stop.
const shutdown = 30 * time.Second

// The rate limit for reading pods, for all resources together: if hundreds roll out at a time, most of them are only
// slow.
const looksPerSecond, looksAtOnce = 20, 20

// New assembles a manager for the cluster that config names.
func New(config *rest.Config, options Options) (manager.Manager, error) {
	charts, err := options.charts()
	if err != nil {
		return nil, err
	}
	for _, fault := range charts.broken.WithoutKind() {
		log.Log.WithName("charts").Error(fault, "an entry of watches is left out: it names no kind")
	}
	list := charts.list
	config = rest.CopyConfig(config)
	config.UserAgent = Name
	config.QPS = -1 // the API server's priority and fairness limits us
	informers := &kube.Informers{}
	mgr, err := manager.New(config, managerOptions(options, list, informers))
	if err != nil {
		return nil, fmt.Errorf("cannot set up the manager: %w", err)
	}
	list, missing, err := split(mgr.GetRESTMapper(), list)
	if err != nil {
		return nil, err
	}
	if len(missing.kinds) > 0 {
		if err := mgr.Add(missing); err != nil {
			return nil, fmt.Errorf("cannot wait for %s: %w", missing, err)
		}
	}
	if err := addProbes(mgr, informers, list, missing); err != nil {
		return nil, err
	}
	discoverer, err := discovery.NewDiscoveryClientForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("cannot set up discovery: %w", err)
	}
	// The recorder of events.k8s.io keeps the note of the first of a series of events only; ours differ in their notes.
	recorder := mgr.GetEventRecorderFor(Name) //nolint:staticcheck // deprecated for the one above
	referenceInformers := &kube.Informers{}
	references, err := newReferences(config, mgr, options, referenceInformers)
	if err != nil {
		return nil, err
	}
	defaultInformers := &kube.Informers{}
	defaults, err := newDefaults(config, mgr, options, defaultInformers)
	if err != nil {
		return nil, err
	}
	routes, err := newRoutes(config, mgr, options)
	if err != nil {
		return nil, err
	}
	counters, err := metrics.Register(ctrlmetrics.Registry)
	if err != nil {
		return nil, err
	}
	for _, kind := range missing.kinds {
		counters.Missing(kind.Kind)
	}
	rules, err := newPolicy(options.Policy, counters)
	if err != nil {
		return nil, err
	}
	rules.changed = charts.enqueue
	dependencies := reference.NewDependencies(references, kube.Named(mgr.GetAPIReader()))
	hosting := hostRules{policy: rules.current, labels: func(namespace string) map[string]string {
		if referenceInformers.Seen(reference.NamespaceKind) != nil { // nothing else waits for it
			return nil
		}
		labels, _ := dependencies.Labels(context.Background(), namespace) // they are in memory
		return labels
	}}
	mayWatch := rights(mgr)
	mayWatchCRDs := onceGranted(mayWatch)
	charts.event, charts.live = crdEvents(mgr, mayWatchCRDs, recorder), mgr.GetAPIReader()
	charts.version = func(context.Context) string {
		version, err := discoverer.ServerVersion()
		if err != nil {
			return "" // it is not known, and read again
		}
		return version.GitVersion
	}
	shared := shared{
		Policy:             rules.current,
		Charts:             charts,
		Informers:          informers,
		References:         references,
		ReferenceInformers: referenceInformers,
		Defaults:           defaults,
		DefaultInformers:   defaultInformers,
		Dependencies:       dependencies,
		MayWatch:           mayWatch,
		Hosts:              hosts.New(mgr.GetCache(), routes, mgr.GetRESTMapper(), hosting),
		Observer:           livestate.New(mgr.GetCache(), informers, kube.Named(mgr.GetAPIReader())),
		Capabilities: &watch.Discovered{Discovery: discoverer, Clock: clock.RealClock{},
			Version: apiVersions(mgr, mayWatchCRDs)},
		Recorder:         recorder,
		Metrics:          counters,
		Clock:            clock.RealClock{},
		ReconcileTimeout: options.ReconcileTimeout,
		Rollouts: rolloutLimits{options.MaxConcurrentRollouts, options.MaxFailedRollouts,
			options.RolloutDeadline},
		HistoryMax:              options.HistoryMax,
		Kinds:                   served(list),
		Looks:                   rate.NewLimiter(looksPerSecond, looksAtOnce),
		InFlight:                limits.NewInFlight(),
		MaxConcurrentReconciles: options.MaxConcurrentReconciles,
	}
	for _, entry := range list {
		if err := addController(mgr, shared, entry); err != nil {
			return nil, err
		}
	}
	if err := mgr.Add(charts); err != nil {
		return nil, fmt.Errorf("cannot follow the charts: %w", err)
	}
	if err := mgr.Add(rules); err != nil {
		return nil, fmt.Errorf("cannot follow the policy: %w", err)
	}
	return mgr, nil
}

func managerOptions(options Options, list []chart.Watch, informers *kube.Informers) manager.Options {
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme) // cannot fail on a new scheme
	bounds := map[schema.GroupVersionKind]limits.Bound{}
	for _, entry := range list {
		bounds[entry.GroupVersionKind] = boundOf(entry)
	}
	out := manager.Options{
		Scheme: scheme,
		Cache: cache.Options{
			DefaultLabelSelector: labels.SelectorFromSet(labels.Set{v1.LabelManaged: "true"}),
			DefaultTransform:     kube.Transform(bounds),
			DefaultNamespaces:    namespaces(options),
			ByObject:             map[client.Object]cache.ByObject{},
			NewInformer:          informers.New,
		},
		NewCache: withServed,
		Client: client.Options{
			Cache:      &client.CacheOptions{Unstructured: true},
			FieldOwner: release.FieldManager,
		},
		LeaderElection:                options.LeaderElection,
		LeaderElectionID:              Name,
		LeaderElectionNamespace:       options.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		HealthProbeBindAddress:        options.ProbeAddress,
		GracefulShutdownTimeout:       ptr.To(shutdown),
		Metrics:                       options.metricsServer(),
	}
	out.Cache.ByObject[kube.Metadata(watch.CRDKind)] = cache.ByObject{Label: labels.Everything(),
		Transform: watch.StripCRD}
	for _, entry := range list {
		resource := kube.Object(entry.GroupVersionKind)
		selector, _ := metav1.LabelSelectorAsSelector(entry.Selector) // chart.ReadWatches has tried it
		out.Cache.ByObject[resource] = cache.ByObject{Label: selector}
	}
	return out
}

// addProbes adds the probes. The operator is ready when it can read the resources that it serves, and its own records
// of them: a kind that only some resources use affects only those.
func addProbes(mgr manager.Manager, informers *kube.Informers, list []chart.Watch, missing awaited) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("cannot set up the health probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("kinds", func(*http.Request) error { return missing.ready(list) }); err != nil {
		return fmt.Errorf("cannot set up the readiness probe: %w", err)
	}
	for _, kind := range append(served(list), kube.SecretKind) {
		seen := func(*http.Request) error { return informers.Seen(kind) }
		if err := mgr.AddReadyzCheck(kind.GroupKind().String(), seen); err != nil {
			return fmt.Errorf("cannot set up the readiness probe: %w", err)
		}
	}
	return nil
}

// served are the kinds that watches.yaml names.
func served(list []chart.Watch) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, entry := range list {
		kinds = append(kinds, entry.GroupVersionKind)
	}
	return kinds
}

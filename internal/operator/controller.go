package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/queue"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/watch"
	"github.com/example/appservice-operator/internal/operator/controller"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/internal/operator/status"
)

// shared has the parts that the controllers of all kinds share.
type shared struct {
	Charts   *charts
	Policy   *policy.Current
	Observer *livestate.Observer
	// Informers are the informers of the manager's cache.
	Informers *kube.Informers
	// References holds the metadata of all objects, whoever owns them.
	References cache.Cache
	// ReferenceInformers are the informers of that cache.
	ReferenceInformers *kube.Informers
	// Defaults holds the ConfigMaps by which namespaces set defaults.
	Defaults cache.Cache
	// DefaultInformers are the informers of that cache.
	DefaultInformers *kube.Informers
	Dependencies     *reference.Dependencies
	// MayWatch reports whether the operator may watch a kind in all of the cluster.
	MayWatch     func(context.Context, schema.GroupVersionKind) (bool, error)
	Hosts        *hosts.Hosts
	Capabilities *watch.Discovered
	Recorder     record.EventRecorder
	Metrics      *metrics.Metrics
	Clock        clock.PassiveClock
	// ReconcileTimeout is how long one reconcile may take; 0 for any time.
	ReconcileTimeout time.Duration
	// Rollouts are the limits of rollouts of a kind.
	Rollouts rolloutLimits
	// Kinds are all that are served.
	Kinds []schema.GroupVersionKind
	// HistoryMax is how many release records are kept of each resource.
	HistoryMax int
	// Looks limits how often pods are read.
	Looks *rate.Limiter
	// InFlight limits the resources that are reconciled at a time.
	InFlight *limits.InFlight
	// MaxConcurrentReconciles is used if watches.yaml does not set it.
	MaxConcurrentReconciles int
}

// addController creates the controller of one entry of watches.yaml and adds it to the manager.
func addController(mgr manager.Manager, shared shared, entry chart.Watch) error {
	kind := entry.GroupVersionKind
	secrets := rest.CopyConfig(mgr.GetConfig())
	secrets.ContentType = runtime.ContentTypeProtobuf
	core, err := typedcorev1.NewForConfigAndClient(secrets, mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("cannot make a client for release records: %w", err)
	}
	counters := shared.Metrics.Kind(kind.Kind, entry.Chart.Metadata)
	chartOf := shared.Charts.serve(entry, mgr.GetCache(), counters, func(c *helmchart.Chart) *render.Renderer {
		renderer := render.For(entry, c)
		renderer.ClusterScoped = kube.ClusterScoped(mgr.GetRESTMapper())
		renderer.Bound, renderer.Limit = boundOf(entry), hosts.Limit
		return renderer
	})
	reconciler := &controller.Reconciler{
		Kind:         kind,
		Charts:       chartOf.current,
		Capabilities: shared.Capabilities,
		Fields:       shared.Capabilities,
		Hosts:        shared.Hosts,
		Observer:     shared.Observer,
		Actor: release.NewActor(
			&livestate.Writer{Client: mgr.GetClient(), Secrets: core, Observer: shared.Observer}, kube.Named(mgr.GetAPIReader()),
			shared.HistoryMax),
		Status:   &status.Writer{Client: mgr.GetClient(), Clock: shared.Clock, Bound: boundOf(entry)},
		Policy:   shared.Policy,
		Client:   mgr.GetClient(),
		Live:     kube.Named(mgr.GetAPIReader()),
		Recorder: shared.Recorder,
		Metrics:  counters,
		Clock:    shared.Clock,
		Others: slices.DeleteFunc(slices.Clone(shared.Kinds),
			func(other schema.GroupVersionKind) bool { return other == kind }),
		Looks:    shared.Looks,
		InFlight: shared.InFlight,
	}
	reconciler.Rollouts = newRollouts(mgr, shared, reconciler)
	if entry.ReconcilePeriod != nil {
		reconciler.Period = entry.ReconcilePeriod.Duration
	}
	runs, err := ctrl.New(strings.ToLower(kind.GroupKind().String()), mgr, ctrl.Options{
		Reconciler:              reconciler,
		MaxConcurrentReconciles: ptr.Deref(entry.MaxConcurrentReconciles, shared.MaxConcurrentReconciles),
		SkipNameValidation:      ptr.To(true),
		ReconciliationTimeout:   shared.ReconcileTimeout,
		NewQueue: func(name string,
			limiter workqueue.TypedRateLimiter[reconcile.Request],
		) workqueue.TypedRateLimitingInterface[reconcile.Request] {
			requests := queue.New(name, limiter)
			reconciler.UsersWait = requests.UsersWait
			return requests
		},
		RateLimiter: rateLimiter(),
	})
	if err != nil {
		return fmt.Errorf("cannot make the controller of %s: %w", kind, err)
	}
	tracker := &watch.Tracker{
		Owner:      kind,
		Cache:      mgr.GetCache(),
		Informers:  shared.Informers,
		Mapper:     mgr.GetRESTMapper(),
		Observer:   shared.Observer,
		Controller: runs,
		Enqueue:    *entry.WatchDependentResources,
		UIDOf:      reconciler.UIDOf,
	}
	reconciler.Tracker = tracker
	reconciler.References = &watch.Referrers{
		Cache: shared.References, Informers: shared.ReferenceInformers, Dependencies: shared.Dependencies,
		Controller: runs, MayWatch: shared.MayWatch, Served: shared.Capabilities.Serves,
		FactsOf: shared.Policy.FactsOf,
	}
	if len(entry.NamespaceDefaults) > 0 {
		if err := followDefaults(mgr, shared, reconciler, runs); err != nil {
			return err
		}
	}
	resource := kube.Object(kind)
	// The informer is created now, so that readiness waits for it.
	informer, err := mgr.GetCache().GetInformer(context.Background(), resource, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", kind, err)
	}
	if err := shared.Hosts.Follow(informer); err != nil {
		return fmt.Errorf("cannot watch %s: %w", kind, err)
	}
	if err := mgr.Add(shared.Metrics.Fleet(kind, mgr.GetCache())); err != nil {
		return fmt.Errorf("cannot show %s in the metrics: %w", kind.Kind, err)
	}
	changed := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{},
		predicate.AnnotationChangedPredicate{})
	for _, source := range []source.Source{
		source.Kind[client.Object](mgr.GetCache(), resource, &handler.EnqueueRequestForObject{}, changed),
		source.Kind[client.Object](mgr.GetCache(), resource, handler.Funcs{UpdateFunc: reconciler.Status.Update}),
	} {
		if err := runs.Watch(source); err != nil {
			return fmt.Errorf("cannot watch %s: %w", kind, err)
		}
	}
	for _, source := range []source.Source{chartOf.wake(), shared.Hosts.Wake(kind.GroupKind()),
		reconciler.Rollouts.Wake()} {
		if err := runs.Watch(source); err != nil {
			return fmt.Errorf("cannot watch %s: %w", kind, err)
		}
	}
	// An operator for some namespaces may have no rights beyond them. It reads capabilities again every hour.
	allowed, err := shared.MayWatch(context.Background(), watch.CRDKind)
	if err != nil {
		return err
	}
	if allowed {
		if err := watch.APIs(context.Background(), mgr.GetCache(), runs, reconciler.Rendering,
			shared.Capabilities.Invalidate); err != nil {
			return err
		}
		if err := watchRequests(mgr, runs, reconciler); err != nil {
			return err
		}
	}
	kinds := chart.Kinds(entry.Chart)
	if entry.Is() { // what can never be watched is left out there, not refused
		kinds = slices.DeleteFunc(kinds, func(kind schema.GroupVersionKind) bool { return chart.Unwatchable(kind) != "" })
	}
	return tracker.Preload(context.Background(), append(kinds, kube.SecretKind)...)
}

// rateLimiter spaces the attempts of reconciles that return an error, for example because the status cannot be written:
// soon at first, since conflicts pass, then up to the interval of the attempts that the status reports.
func rateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, controller.LastRetry)
}

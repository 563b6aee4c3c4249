package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/filewatch"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/engine/watch"
	"github.com/example/appservice-operator/internal/operator/metrics"
)

// embedded is how logs name the location of the charts that are part of the program.
const embedded = "embedded"

// charts holds the charts of all kinds, and their location.
type charts struct {
	list   []chart.Watch
	broken chart.Broken
	files  fs.FS
	folder string // of files; empty for the embedded ones, which never change
	// event emits a warning about the CRD of a kind; nil for none.
	event func(kind schema.GroupVersionKind, reason, note string)

	// version returns the version of the cluster, empty if it is not known; nil for no checks.
	version func(context.Context) string
	// live reads past the cache.
	live client.Reader
	// namespaces are those that are served; an empty one for all.
	namespaces []string

	kinds   []*kindChart
	loading sync.Mutex
}

// versionPeriod is the interval at which the version of the cluster is compared: a cluster is seldom upgraded.
const versionPeriod = 5 * time.Minute

// followVersion looks at all charts again when the version of the cluster changes, until the context ends.
func (c *charts) followVersion(ctx context.Context) {
	if c.version == nil {
		return
	}
	known := c.version(ctx)
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if now := c.version(ctx); now != known && now != "" {
			known = now
			c.reload(ctx)
		}
	}, versionPeriod)
}

// reload looks at the charts of all kinds again.
func (c *charts) reload(ctx context.Context) {
	c.loading.Lock()
	defer c.loading.Unlock()
	for _, kind := range c.kinds {
		kind.load(ctx)
	}
}

// fits returns an error if a chart does not fit the platform, or the cluster's version is not within its kubeVersion.
// For a kind that has releases already, the version is a warning, and its releases are still repaired.
func (k *kindChart) fits(ctx context.Context, next *render.Renderer) error {
	if err := next.FitPlatform(); err != nil || k.charts.version == nil {
		return err
	}
	err := chart.Supports(next.Chart, k.charts.version(ctx))
	if err == nil || !k.released(ctx) {
		return err
	}
	k.log.Info("warning: "+err.Error(), "path", k.entry.ChartPath)
	k.event(v1.ReasonChartWarning, err.Error())
	return nil
}

// released reports whether any resource of the kind has a release, or cannot be read.
func (k *kindChart) released(ctx context.Context) bool {
	return slices.ContainsFunc(k.charts.namespaces, func(namespace string) bool {
		list := kube.List(k.entry.GroupVersionKind)
		if err := k.charts.live.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return true
		}
		return slices.ContainsFunc(list.Items, func(resource unstructured.Unstructured) bool {
			revision, _, _ := unstructured.NestedInt64(resource.Object, "status", "release", "revision")
			return revision > 0
		})
	})
}

// kindChart is the chart of one kind, reloaded when its files change.
type kindChart struct {
	entry    chart.Watch
	charts   *charts
	current  *render.Current
	renderer func(*helmchart.Chart) *render.Renderer
	metrics  *metrics.Kind
	log      logr.Logger
	// informer lists the resources of the kind.
	informer client.Reader

	told string // the last reported fault of the files

	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// serve records the chart of a kind as it was loaded at the start, and how to create another renderer of it.
func (c *charts) serve(entry chart.Watch, informer client.Reader, kind *metrics.Kind,
	renderer func(*helmchart.Chart) *render.Renderer) *kindChart {
	k := &kindChart{
		entry: entry, charts: c, renderer: renderer, metrics: kind, informer: informer,
		log: log.Log.WithName("charts").WithValues("kind", entry.Kind),
	}
	first := renderer(entry.Chart)
	if first.Broken = c.broken[entry.GroupVersionKind]; first.Broken == nil {
		first.Broken = k.fits(context.Background(), first)
	}
	k.current = render.NewCurrent(first)
	if first.Broken != nil {
		k.refuse(first.Broken)
	} else {
		k.tell("chart loaded")
		k.warn()
	}
	c.kinds = append(c.kinds, k)
	return k
}

// Start implements manager.Runnable: it follows the files, and the version of the cluster, until the context ends.
func (c *charts) Start(ctx context.Context) error {
	var version sync.WaitGroup
	version.Go(func() { c.followVersion(ctx) })
	defer version.Wait()
	if c.folder == "" {
		return nil
	}
	folder := &filewatch.Folder{Root: c.folder}
	for _, kind := range c.kinds {
		folder.Charts = append(folder.Charts, kind.entry.ChartPath)
	}
	err := folder.Watch(ctx, func() { c.reload(ctx) })
	if err != nil { // nodes limit file watches: charts are served without, too
		log.Log.WithName("charts").Error(err, "charts are not followed: restart the operator to serve changed ones", "folder",
			c.folder)
	}
	return nil
}

// enqueue requeues all resources of all kinds.
func (c *charts) enqueue(ctx context.Context) {
	for _, kind := range c.kinds {
		kind.enqueue(ctx)
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: a standby must have the same chart.
func (*charts) NeedLeaderElection() bool { return false }

// load puts the present files to use, if they are another chart and a valid one.
func (k *kindChart) load(ctx context.Context) {
	if wrong := k.charts.broken[k.entry.GroupVersionKind]; isEntry(wrong) { // read at the start only
		k.refuse(wrong)
		return
	}
	var next *render.Renderer
	loaded, err := k.entry.Load(k.charts.files, k.entry.ChartPath)
	if err == nil {
		next = k.renderer(loaded)
		err = k.fits(ctx, next)
	}
	if err != nil {
		k.refuse(err)
		return
	}
	k.metrics.ChartRefused(false)
	recovered := k.told != ""
	k.told = ""
	before := k.current.Get()
	if before.Broken == nil && chart.Digest(loaded) == before.Identity().Digest {
		if recovered {
			k.tell("chart loads again, and is the one in use")
		}
		return
	}
	k.current.Set(next)
	k.metrics.Chart(loaded.Metadata)
	k.tell("chart loaded again")
	k.warn()
	k.enqueue(ctx)
}

// isEntry reports whether an entry of watches.yaml is wrong, rather than its chart.
func isEntry(err error) bool {
	_, is := errors.AsType[*chart.EntryError](err)
	return is
}

// refuse reports a fault of the files once. The chart in use stays.
func (k *kindChart) refuse(err error) {
	k.metrics.ChartRefused(true)
	explained := strings.TrimSuffix(chart.Explain(err), "\n")
	if explained == k.told {
		return
	}
	k.told = explained
	use := "nothing is rendered until the chart is corrected; running objects stay as they are"
	if now := k.current; now != nil && now.Get().Broken == nil {
		use = now.Get().Identity().String() + " stays in use"
	}
	k.log.Info(fmt.Sprintf("the chart does not load: %s\n%s", use, explained), "folder", k.charts.place(), "path",
		k.entry.ChartPath)
	k.event(v1.ReasonChartRefused, err.Error()+"; "+use)
}

// warn reports the parts of the chart in use that have no effect.
func (k *kindChart) warn() {
	for _, warning := range chart.Warnings(k.current.Get().Chart) {
		k.log.Info("warning: "+warning.Error(), "path", k.entry.ChartPath)
		k.event(v1.ReasonChartWarning, warning.Error())
	}
}

// event emits a warning about the CRD of the kind.
func (k *kindChart) event(reason, note string) {
	if k.charts.event != nil {
		k.charts.event(k.entry.GroupVersionKind, reason, text.Line(note))
	}
}

func (k *kindChart) tell(message string) {
	identity := k.current.Get().Identity()
	k.log.Info(message, "chart", identity.Name, "version", identity.Version, "digest", identity.Digest,
		"folder", k.charts.place(), "path", k.entry.ChartPath)
}

func (c *charts) place() string {
	if c.folder == "" {
		return embedded
	}
	return c.folder
}

// wake returns the source of requests for all resources when the chart changes.
func (k *kindChart) wake() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.queue = queue
		return nil
	})
}

// enqueue requeues each resource. Those that users change go first.
func (k *kindChart) enqueue(ctx context.Context) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.queue == nil {
		return // the first reconciles are still to come
	}
	list := kube.List(k.entry.GroupVersionKind)
	if err := k.informer.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		k.log.Error(err, "cannot list the resources that another chart or policy is for")
		return
	}
	for i := range list.Items {
		watch.Later(k.queue, client.ObjectKeyFromObject(&list.Items[i]))
	}
}

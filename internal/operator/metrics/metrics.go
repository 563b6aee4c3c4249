// Package metrics owns the operator's Prometheus metrics, whose names begin with appservice_. Events are
// counted as they happen, for each kind by its controller; the conditions of resources are read from the
// informer cache at each scrape, so that they need no upkeep and vanish with the resource. It never decides
// anything, and makes no request.
package metrics

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/example/appservice-operator/internal/version"
)

// Metrics are all metrics of the process. It is a prometheus.Collector, safe for concurrent use.
type Metrics struct {
	build      *prometheus.GaugeVec
	charts     *prometheus.GaugeVec
	refused    *prometheus.GaugeVec
	missing    *prometheus.GaugeVec
	policy     *prometheus.GaugeVec
	unusable   prometheus.Gauge
	reconciles *prometheus.HistogramVec
	failures   *prometheus.CounterVec
	renders    *prometheus.CounterVec
	actions    *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	drift      *prometheus.CounterVec
	rollouts   *prometheus.GaugeVec
	fleets     *fleets
}

// Register adds the metrics to a registry. All managers of one process share them.
func Register(registry prometheus.Registerer) (*Metrics, error) {
	m := New()
	err := registry.Register(m)
	if known, found := errors.AsType[prometheus.AlreadyRegisteredError](err); found {
		if existing, ok := known.ExistingCollector.(*Metrics); ok {
			return existing, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	return m, nil
}

// New returns the metrics, without any kind yet.
func New() *Metrics {
	m := &Metrics{
		build: gauge("appservice_build_info", "The build of the operator; always 1.", "version", "goversion"),
		charts: gauge("appservice_chart_info", "The chart that resources of a kind are rendered with; always 1.", "kind",
			"chart", "version"),
		refused: gauge("appservice_chart_load_failed",
			"1 while the files of a chart cannot be used, and the chart before stays in use; the log says why.", "kind"),
		missing: gauge("appservice_kind_missing",
			"1 for a kind of watches.yaml that the cluster does not serve: its CRD is missing, or cannot be read.", "kind"),
		policy: gauge("appservice_policy_info",
			"The platform's policy in use: its file, the built-in policy that this is laid over, open or shared, and its digest; always 1.",
			"source", "built_in", "digest"),
		unusable: prometheus.NewGauge(prometheus.GaugeOpts{Name: "appservice_policy_load_failed",
			Help: "1 while the file of the policy cannot be used, and the policy before stays in use; the log says why."}),
		reconciles: histogram("appservice_reconcile_duration_seconds", "Duration of reconciles, by outcome.", fast, "kind",
			"outcome"),
		failures: counter("appservice_reconcile_failures_total",
			"Reconciles that could not bring objects to what the spec says, by the reason of Ready.", "kind", "reason"),
		renders: counter("appservice_render_errors_total",
			"Reconciles that ended because spec and chart could not be rendered.", "kind"),
		actions: counter("appservice_release_actions_total",
			"Installs, upgrades, resumed releases and repairs of drift that came to an end, well or not.", "kind", "action",
			"result"),
		durations: histogram("appservice_release_action_duration_seconds",
			"Time spent on actions that ended well: writing objects and the release record, waiting in between left out.", slow,
			"kind", "action"),
		drift: counter("appservice_drift_corrections_total",
			"Objects restored after others changed them, by their kind and by what it took: create, apply or delete.", "kind",
			"object_kind", "operation"),
		rollouts: gauge("appservice_rollout_resources",
			"Resources that the chart in use did not come to, or that are not ready with it: they wait for their turn (waiting) or because it is halted (held), or it cannot be rendered for them, or too few replicas became available again (failed).", "kind", "state"),
		fleets: newFleets(),
	}
	m.build.WithLabelValues(version.Version, runtime.Version()).Set(1)
	return m
}

// The upper bounds of buckets, in seconds: of reconciles, most of which do nothing, and of actions, which wait for the
// API server.
var (
	fast = []float64{.00025, .0005, .001, .0025, .005, .01, .025, .1, .5, 1, 5}
	slow = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
)

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func (m *Metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.build, m.charts, m.refused, m.missing, m.policy, m.unusable, m.reconciles, m.failures,
		m.renders, m.actions, m.durations, m.drift, m.rollouts, m.fleets}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, collector := range m.all() {
		collector.Describe(descriptions)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(metrics chan<- prometheus.Metric) {
	for _, collector := range m.all() {
		collector.Collect(metrics)
	}
}

// Policy exports the policy in use, and whether its present file cannot be used.
func (m *Metrics) Policy(source, builtIn, digest string, refused bool) {
	m.policy.Reset()
	m.policy.WithLabelValues(source, builtIn, digest).Set(1)
	m.unusable.Set(oneIf(refused))
}

// Missing exports that a kind is not served.
func (m *Metrics) Missing(kind string) { m.missing.WithLabelValues(kind).Set(1) }

func oneIf(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"helm.sh/helm/v3/pkg/chart"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// Outcome is the outcome of a reconcile.
type Outcome string

// The outcomes.
const (
	// Unchanged: everything was as it should be, or the resource is paused.
	Unchanged Outcome = "unchanged"
	// Acted: objects or the release record were written.
	Acted Outcome = "acted"
	// Deferred: it was too early, for the caches, for the next attempt or for one more rollout.
	Deferred Outcome = "deferred"
	// Failed: the objects could not be changed to match the spec; the status says why.
	Failed Outcome = "failed"
	// Error: the operator could not read the resource or write its status.
	Error Outcome = "error"
	// Gone: the resource is deleted, or about to be.
	Gone Outcome = "gone"
)

// The results of actions.
const (
	success = "success"
	failure = "failure"
)

// Kind counts events of the resources of one kind.
type Kind struct {
	name string
	*Metrics
}

// Kind returns the counters of a kind whose resources a chart renders. Series that are known in advance start at 0.
func (m *Metrics) Kind(kind string, chart *chart.Metadata) *Kind {
	k := &Kind{name: kind, Metrics: m}
	k.Chart(chart)
	k.ChartRefused(false)
	m.renders.WithLabelValues(kind)
	for _, action := range []plan.Verb{plan.Install, plan.Upgrade, plan.Resume, plan.Repair, plan.Return} {
		m.durations.WithLabelValues(kind, string(action))
		m.actions.WithLabelValues(kind, string(action), success)
		m.actions.WithLabelValues(kind, string(action), failure)
	}
	for _, outcome := range []Outcome{Unchanged, Acted, Deferred, Failed, Error, Gone} {
		m.reconciles.WithLabelValues(kind, string(outcome))
	}
	k.Rollout(0, 0, 0)
	return k
}

// Chart exports the chart that the resources are rendered with.
func (k *Kind) Chart(chart *chart.Metadata) {
	k.charts.DeletePartialMatch(prometheus.Labels{"kind": k.name})
	k.charts.WithLabelValues(k.name, chart.Name, chart.Version).Set(1)
}

// ChartRefused exports whether the present files of the chart cannot be used.
func (k *Kind) ChartRefused(refused bool) {
	k.refused.WithLabelValues(k.name).Set(oneIf(refused))
}

// Rollout exports the progress of a new chart in numbers of resources.
func (k *Kind) Rollout(waiting, held, failed int) {
	for state, resources := range map[string]int{"waiting": waiting, "held": held, "failed": failed} {
		k.rollouts.WithLabelValues(k.name, state).Set(float64(resources))
	}
}

// Reconciled counts a reconcile.
func (k *Kind) Reconciled(outcome Outcome, took time.Duration) {
	k.reconciles.WithLabelValues(k.name, string(outcome)).Observe(took.Seconds())
}

// Failed counts a reconcile that could not bring objects to the state of the spec, by the reason of Ready.
func (k *Kind) Failed(reason string) {
	k.failures.WithLabelValues(k.name, reason).Inc()
	if reason == v1.ReasonRenderFailed || reason == v1.ReasonInvalidSpec {
		k.renders.WithLabelValues(k.name).Inc()
	}
}

// Acted counts an action that succeeded.
func (k *Kind) Acted(action plan.Verb, took time.Duration) {
	k.actions.WithLabelValues(k.name, string(action), success).Inc()
	k.durations.WithLabelValues(k.name, string(action)).Observe(took.Seconds())
}

// ActionFailed counts an action that failed.
func (k *Kind) ActionFailed(action plan.Verb) {
	k.actions.WithLabelValues(k.name, string(action), failure).Inc()
}

// Corrected counts an object whose drift was repaired, by the operation: create, apply or delete.
func (k *Kind) Corrected(objectKind, operation string) {
	k.drift.WithLabelValues(k.name, objectKind, operation).Inc()
}

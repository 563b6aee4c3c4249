package metrics

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// readPatience limits a read from the cache, which blocks only while it is being filled.
const readPatience = time.Second

// Fleet exports the resources of a kind for as long as it runs. It is a manager.Runnable that runs only in the leader:
// each resource is exported once, however many replicas the operator has.
type Fleet struct {
	kind     schema.GroupVersionKind
	informer client.Reader
	shown    *fleets
}

// Fleet returns the fleet of a kind, read from an informer cache.
func (m *Metrics) Fleet(kind schema.GroupVersionKind, informer client.Reader) *Fleet {
	return &Fleet{kind: kind, informer: informer, shown: m.fleets}
}

// Start implements manager.Runnable.
func (f *Fleet) Start(ctx context.Context) error {
	f.shown.add(f)
	defer f.shown.remove(f)
	<-ctx.Done()
	return nil
}

// NeedLeaderElection returns true: only the leader exports the fleet.
func (*Fleet) NeedLeaderElection() bool { return true }

// list returns all resources, shared with the cache: they must not be changed. While the cache cannot be read there are
// none.
func (f *Fleet) list() []unstructured.Unstructured {
	ctx, cancel := context.WithTimeout(context.Background(), readPatience)
	defer cancel()
	list := kube.List(f.kind)
	if err := f.informer.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	return list.Items
}

// fleets are the fleets that are exported now. It is a prometheus.Collector.
type fleets struct {
	resources, charts, condition *prometheus.Desc

	mu   sync.Mutex
	list []*Fleet
}

func newFleets() *fleets {
	return &fleets{
		resources: prometheus.NewDesc("appservice_resources", "Resources that the operator serves.", []string{"kind"}, nil),
		charts: prometheus.NewDesc("appservice_chart_resources",
			"Resources by the chart that their newest release was rendered with. Charts beyond the first ten are counted together, as other.", []string{"kind", "version", "digest"}, nil),
		condition: prometheus.NewDesc("appservice_condition",
			"A condition of a resource as it is now; always 1. The series of another status or reason ends.",
			[]string{"kind", "name", "namespace", "reason", "status", "type"}, nil),
	}
}

func (s *fleets) add(f *Fleet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, f)
}

func (s *fleets) remove(f *Fleet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// In a copy: Collect may still read the list.
	s.list = slices.DeleteFunc(slices.Clone(s.list), func(other *Fleet) bool { return other == f })
}

// Describe implements prometheus.Collector.
func (s *fleets) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- s.resources
	descriptions <- s.charts
	descriptions <- s.condition
}

// Collect implements prometheus.Collector. A resource that is in several fleets, or has several kinds of one name, is
// exported once: Prometheus refuses everything if a series is duplicated.
func (s *fleets) Collect(metrics chan<- prometheus.Metric) {
	s.mu.Lock()
	list := s.list
	s.mu.Unlock()
	shown := map[string]map[types.NamespacedName]bool{}
	charts := map[string]map[usedChart]int{}
	out := &labeller{condition: s.condition, known: map[[2]string]*dto.LabelPair{}}
	for _, fleet := range list {
		kind := fleet.kind.Kind
		if shown[kind] == nil {
			shown[kind], charts[kind] = map[types.NamespacedName]bool{}, map[usedChart]int{}
		}
		items := fleet.list()
		for i := range items {
			name := types.NamespacedName{Namespace: items[i].GetNamespace(), Name: items[i].GetName()}
			if shown[kind][name] {
				continue
			}
			shown[kind][name] = true
			out.show(kind, name, items[i].Object, metrics)
			countChart(charts[kind], chartOf(items[i].Object))
		}
	}
	for kind, names := range shown {
		metrics <- prometheus.MustNewConstMetric(s.resources, prometheus.GaugeValue, float64(len(names)), kind)
		for chart, resources := range charts[kind] {
			metrics <- prometheus.MustNewConstMetric(s.charts, prometheus.GaugeValue, float64(resources), kind, chart.version,
				chart.digest)
		}
	}
}

// usedChart is the chart of a release, as a status names it.
type usedChart struct{ version, digest string }

// otherCharts stands for all charts beyond the first ones: the number of charts in statuses is not limited.
var otherCharts = usedChart{"other", "other"}

const mostCharts = 10

// chartOf returns the chart of the newest release of a resource; the zero value if there is none.
func chartOf(content map[string]any) (chart usedChart) {
	chart.version, _, _ = unstructured.NestedString(content, "status", "release", "chartVersion")
	chart.digest, _, _ = unstructured.NestedString(content, "status", "release", "chartDigest")
	return chart
}

func countChart(resources map[usedChart]int, chart usedChart) {
	if chart == (usedChart{}) {
		return
	}
	if _, known := resources[chart]; !known && len(resources) >= mostCharts {
		chart = otherCharts
	}
	resources[chart]++
}

// conditionTypes are the exported types: others in a status are not limited in number.
var conditionTypes = []string{
	v1.ConditionReady, v1.ConditionAvailable, v1.ConditionProgressing, v1.ConditionDeployed, v1.ConditionReconciling,
	v1.ConditionStalled,
}

// labeller creates the series of one scrape. Thousands of series share their labels and their value, so that a scrape
// allocates little.
type labeller struct {
	condition *prometheus.Desc
	known     map[[2]string]*dto.LabelPair
}

func (l *labeller) label(name, value string) *dto.LabelPair {
	known := l.known[[2]string{name, value}]
	if known == nil {
		known = &dto.LabelPair{Name: ptr.To(name), Value: ptr.To(value)}
		l.known[[2]string{name, value}] = known
	}
	return known
}

// show sends the conditions of a resource.
func (l *labeller) show(kind string, name types.NamespacedName, content map[string]any,
	metrics chan<- prometheus.Metric) {
	conditions, _, _ := unstructured.NestedFieldNoCopy(content, "status", "conditions")
	list, _ := conditions.([]any)
	named := &dto.LabelPair{Name: ptr.To("name"), Value: &name.Name}
	for _, wanted := range conditionTypes {
		for _, item := range list {
			condition, _ := item.(map[string]any)
			if condition["type"] != wanted {
				continue
			}
			reason, _ := condition["reason"].(string)
			status, _ := condition["status"].(string)
			status = cmp.Or(status, string(metav1.ConditionUnknown))
			metrics <- &series{l.condition, []*dto.LabelPair{ // sorted by name
				l.label("kind", kind), named, l.label("namespace", name.Namespace),
				l.label("reason", reason), l.label("status", status), l.label("type", wanted),
			}}
			break
		}
	}
}

// series is a condition. It is a prometheus.Metric.
type series struct {
	desc   *prometheus.Desc
	labels []*dto.LabelPair
}

// one is the value of all series.
var one = &dto.Gauge{Value: ptr.To(1.0)}

// Desc implements prometheus.Metric.
func (s *series) Desc() *prometheus.Desc { return s.desc }

// Write implements prometheus.Metric.
func (s *series) Write(out *dto.Metric) error {
	out.Label, out.Gauge = s.labels, one
	return nil
}

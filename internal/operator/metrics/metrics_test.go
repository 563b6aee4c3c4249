package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// example are metrics that all have a value.
func example(t *testing.T) *Metrics {
	t.Helper()
	m := New()
	kind := m.Kind("AppService", &chart.Metadata{Name: "appservice", Version: "1.2.3"})
	m.Missing("AppJob")
	kind.Failed("RenderFailed")
	kind.Corrected("Service", "create")
	m.Policy("/etc/appservice/policy/policy.yaml", "shared", "0123456789abcdef0123456789abcdef", false)
	var conditions []string
	for _, kind := range conditionTypes {
		conditions = append(conditions, kind+" True Running")
	}
	run(t, m.Fleet(appService, &informer{items: []unstructured.Unstructured{releasedWith(resource("demo", "web", conditions...), "1.2.3")}}))
	return m
}

func TestNamesFollowTheConventions(t *testing.T) {
	problems, err := testutil.CollectAndLint(example(t))
	require.NoError(t, err)
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

func TestManagersOfOneProcessShareTheMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	first, err := Register(registry)
	require.NoError(t, err)
	second, err := Register(registry)
	if err != nil || first != second {
		t.Errorf("got %p, then %p and %v", first, second, err)
	}
	first.Kind("AppService", &chart.Metadata{}).Corrected("Service", "create")
	if count, err := testutil.GatherAndCount(registry, "appservice_drift_corrections_total"); err != nil || count != 1 {
		t.Errorf("got %d series (error %v), want 1", count, err)
	}
}

func TestANameThatIsTakenIsAnError(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "appservice_build_info", Help: "Somebody else's."}))
	if _, err := Register(registry); err == nil {
		t.Error("no error")
	}
}

func TestWhatCanBeToldInAdvanceBeginsAtZero(t *testing.T) {
	m := New()
	m.Kind("AppService", &chart.Metadata{})
	if got := testutil.ToFloat64(m.renders); got != 0 {
		t.Errorf("got %v render errors", got)
	}
	if got := testutil.CollectAndCount(m, "appservice_release_actions_total"); got != 10 {
		t.Errorf("got %d series of actions, want 5 actions with 2 results", got)
	}
}

//go:build cluster

// Package prometheus has a real Prometheus scrape the operator.
package prometheus

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/test/monitoring"
)

var cluster *harness.Cluster

func TestMain(m *testing.M) {
	harness.Log()
	harness.Main("appservice-prometheus", func(_ context.Context, started *harness.Cluster) (int, error) {
		cluster = started
		return m.Run(), nil
	})
}

// A real Prometheus scrapes a manager at work, and evaluates all alerts and all queries of the dashboards on what it got.
func TestPrometheusSeesWhatTheOperatorDoes(t *testing.T) {
	namespace, address := cluster.Namespace(t), harness.FreeAddress(t)
	cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		options.MetricsAddress = address
		options.LeaderElection, options.LeaderElectionNamespace = true, namespace
	})
	rules, err := monitoring.Rules()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, rules.Write(file))
	prometheus := harness.StartPrometheus(t, address, file)

	web, stuck, refused := harness.Seed(namespace, "web"), harness.Seed(namespace, "stuck"), harness.Seed(namespace, "refused")
	stuck.Spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "missing"},
	}}}
	refused.Spec.Ports[0].NodePort = ptr.To[int32](1) // a request that fails
	for _, app := range []*v1.AppService{web, stuck, refused} {
		cluster.Create(t, app)
	}
	cluster.Ready(t, web)
	cluster.Condition(t, refused, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonNodePortInvalid)
	cluster.Condition(t, stuck, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonDependencyMissing)
	cluster.Delete(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}})
	for what, query := range map[string]string{
		"a condition":          fmt.Sprintf(`appservice_condition{kind="AppService",namespace=%q,name="web",type="Ready",status="True",reason="Running"} == 1`, namespace),
		"what is stalled":      fmt.Sprintf(`appservice_condition{kind="AppService",namespace=%q,name="stuck",type="Stalled",status="True",reason="DependencyMissing"} == 1`, namespace),
		"an install":           `appservice_release_actions_total{kind="AppService",action="install",result="success"} >= 1`,
		"what it took":         `appservice_release_action_duration_seconds_sum{kind="AppService",action="install"} > 0`,
		"a corrected drift":    `appservice_drift_corrections_total{kind="AppService",object_kind="Service",operation="create"} >= 1`,
		"a failure":            `appservice_reconcile_failures_total{kind="AppService",reason="DependencyMissing"} >= 1`,
		"resources":            `appservice_resources{kind="AppService"} >= 2`,
		"the chart":            `count(appservice_chart_info{kind="AppService",chart="appservice"} == 1) >= 1`,
		"the build":            `appservice_build_info == 1`,
		"the leader":           `leader_election_master_status{name="appservice-operator"} == 1`,
		"that an alert is due": fmt.Sprintf(`count(ALERTS{alertname="AppServiceStalled",namespace=%q,name="stuck"}) == 1`, namespace),
	} {
		harness.Eventually(t, "Prometheus sees "+what, func() error {
			_, err := prometheus.Value(t.Context(), query)
			return err
		})
	}
	evaluates(t, prometheus, rules)

	cluster.Delete(t, stuck)
	harness.Eventually(t, "a resource that is gone is not shown", func() error {
		_, err := prometheus.Value(t.Context(), fmt.Sprintf(`absent(appservice_condition{namespace=%q,name="stuck"})`, namespace))
		return err
	})
}

// evaluates checks that Prometheus evaluates each alert without an error, and that each query of the dashboards shows
// something.
func evaluates(t *testing.T, prometheus *harness.Prometheus, rules *monitoring.Groups) {
	t.Helper()
	harness.Eventually(t, "each alert is evaluated", func() error {
		result, err := prometheus.Rules(t.Context(), nil)
		if err != nil {
			return err
		}
		health := map[string]prometheusv1.AlertingRule{}
		for _, group := range result.Groups {
			for _, rule := range group.Rules {
				if alert, ok := rule.(prometheusv1.AlertingRule); ok {
					health[alert.Name] = alert
				}
			}
		}
		for _, alert := range rules.Alerts() {
			if rule := health[alert.Name]; rule.Health != prometheusv1.RuleHealthGood {
				return fmt.Errorf("%s is %q: %s", alert.Name, rule.Health, rule.LastError)
			}
		}
		return nil
	})
	for _, alert := range rules.Alerts() { // the usual answer is nothing
		if _, warnings, err := prometheus.Query(t.Context(), alert.Expr, time.Now()); err != nil || len(warnings) > 0 {
			t.Errorf("%s: error %v, warnings %v", alert.Name, err, warnings)
		}
	}
	queries, err := monitoring.Queries()
	require.NoError(t, err)
	for _, query := range queries {
		harness.Eventually(t, query.String()+" shows something", func() error {
			result, warnings, err := prometheus.Query(t.Context(), query.Expr, time.Now())
			if err == nil && (result.String() == "" || len(warnings) > 0) {
				err = fmt.Errorf("%s gives %q, with warnings %v", query.Expr, result, warnings)
			}
			return err
		})
	}
}

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/operator/metrics"
)

func TestOutcome(t *testing.T) {
	wrong := errors.New("wrong")
	cases := map[string]struct {
		scope scope
		done  attempt
		want  metrics.Outcome
	}{
		"others roll out":                {scope{}, attempt{state: plan.OutOfDate, hold: hold{by: byLine}}, metrics.Deferred},
		"it cannot be rendered":          {scope{}, attempt{err: wrong}, metrics.Failed},
		"a write is refused":             {scope{}, attempt{state: plan.Absent, err: wrong}, metrics.Failed},
		"objects are written":            {scope{}, attempt{state: plan.Drifted}, metrics.Acted},
		"everything is as it should be":  {scope{}, attempt{state: plan.InSync}, metrics.Unchanged},
		"it is paused and left as it is": {scope{paused: true}, attempt{}, metrics.Unchanged},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := outcomeOf(&test.scope, test.done); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// counted fails the test unless the metrics hold the lines.
func counted(t *testing.T, all *metrics.Metrics, lines ...string) {
	t.Helper()
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "{")
		family := strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_sum")
		text, err := testutil.CollectAndFormat(all, expfmt.TypeTextPlain, family)
		require.NoError(t, err)
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("want %s in\n%s", line, text)
		}
	}
}

func TestReconcilesAreCounted(t *testing.T) {
	b, all := newBench(t, "refused"), metrics.New()
	b.Metrics = all.Kind("AppService", &chart.Metadata{})
	b.reconcile(t)
	b.reconcile(t) // too early
	b.change(t, "untranslatable")
	b.reconcile(t)
	b.change(t, "nginx")
	b.source.err = errors.New("forbidden")
	b.reconcile(t)
	counted(t, all,
		`appservice_reconcile_failures_total{kind="AppService",reason="RenderFailed"} 1`,
		`appservice_reconcile_failures_total{kind="AppService",reason="InvalidSpec"} 1`,
		`appservice_reconcile_failures_total{kind="AppService",reason="APIUnavailable"} 1`,
		`appservice_render_errors_total{kind="AppService"} 2`,
		`appservice_reconcile_duration_seconds_count{kind="AppService",outcome="failed"} 3`,
		`appservice_reconcile_duration_seconds_count{kind="AppService",outcome="deferred"} 1`,
		`appservice_release_actions_total{action="install",kind="AppService",result="failure"} 0`,
	)
	b.source.err = nil
	b.installed(t)
	b.clock.SetTime(b.clock.Now().Add(time.Minute))
	b.reconcile(t)
	require.NoError(t, b.client.Delete(t.Context(), b.web(t)))
	b.reconcile(t)
	b.Client = interceptor.NewClient(b.client.(client.WithWatch), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("not now")
		},
	})
	if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: webName}); err == nil {
		t.Error("no error, though the resource cannot be read")
	}
	counted(t, all,
		`appservice_reconcile_duration_seconds_count{kind="AppService",outcome="unchanged"} 1`,
		`appservice_reconcile_duration_seconds_count{kind="AppService",outcome="gone"} 1`,
		`appservice_reconcile_duration_seconds_count{kind="AppService",outcome="error"} 1`,
	)
}

func TestActionsAreCounted(t *testing.T) {
	all, clock := metrics.New(), clocktesting.NewFakePassiveClock(start)
	r := &Reconciler{Metrics: all.Kind("AppService", &chart.Metadata{}), Clock: clock, Recorder: record.NewFakeRecorder(100)}
	object := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	}
	writes := &plan.Plan{
		Create: []*unstructured.Unstructured{object("Service")},
		Apply:  []plan.Change{{Desired: object("Deployment")}, {Desired: object("Deployment")}},
		Delete: []client.Object{object("Ingress")},
	}
	wanted := rendering{rendered: &rendered{}}
	s := &scope{resource: object("AppService")}
	for _, state := range []plan.State{plan.InSync, plan.Absent, plan.OutOfDate, plan.Unfinished, plan.Drifted, ""} {
		r.emitAction(t.Context(), s, wanted, attempt{state: state, plan: writes, observed: &livestate.Snapshot{}, took: 2 * time.Second})
	}
	r.emitAction(t.Context(), s, wanted, attempt{state: plan.OutOfDate, hold: hold{by: byLine}, plan: writes, observed: &livestate.Snapshot{}})
	failed := attempt{state: plan.OutOfDate, plan: writes, observed: &livestate.Snapshot{}, err: errors.New("refused")}
	r.emitAction(t.Context(), s, wanted, failed)
	r.measureFailure(failed, problemOf(failed.err, failed.plan, failureOf(failed), r.Clock.Now()))
	failed.err = &release.StaleError{Err: errors.New("it passes")}
	r.measureFailure(failed, problemOf(failed.err, failed.plan, failureOf(failed), r.Clock.Now()))
	counted(t, all,
		`appservice_release_actions_total{action="install",kind="AppService",result="success"} 1`,
		`appservice_release_actions_total{action="upgrade",kind="AppService",result="success"} 1`,
		`appservice_release_actions_total{action="upgrade",kind="AppService",result="failure"} 1`,
		`appservice_release_actions_total{action="resume",kind="AppService",result="success"} 1`,
		`appservice_release_actions_total{action="repair",kind="AppService",result="success"} 1`,
		`appservice_release_action_duration_seconds_count{action="repair",kind="AppService"} 1`,
		`appservice_release_action_duration_seconds_sum{action="repair",kind="AppService"} 2`,
		`appservice_drift_corrections_total{kind="AppService",object_kind="Deployment",operation="apply"} 2`,
		`appservice_drift_corrections_total{kind="AppService",object_kind="Service",operation="create"} 1`,
		`appservice_drift_corrections_total{kind="AppService",object_kind="Ingress",operation="delete"} 1`,
		`appservice_reconcile_failures_total{kind="AppService",reason="`+v1.ReasonPending+`"} 1`,
	)
}

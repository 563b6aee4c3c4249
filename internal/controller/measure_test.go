package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"helm.sh/helm/v3/pkg/chart"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/metrics"
	"github.com/example/appservice-operator/internal/release"
)

func TestOutcome(t *testing.T) {
	web, seen, wrong := &unstructured.Unstructured{}, &cluster.Snapshot{}, errors.New("wrong")
	going := &unstructured.Unstructured{Object: map[string]any{}}
	going.SetDeletionTimestamp(&metav1.Time{Time: start})
	cases := map[string]struct {
		pass pass
		err  error
		want metrics.Outcome
	}{
		"it cannot be read":              {pass{}, wrong, metrics.Error},
		"its status cannot be written":   {pass{resource: web, snapshot: seen, state: release.Absent, acted: true}, wrong, metrics.Error},
		"it is gone":                     {pass{}, nil, metrics.Gone},
		"it is going":                    {pass{resource: going}, nil, metrics.Gone},
		"the next attempt is not due":    {pass{resource: web}, nil, metrics.Deferred},
		"the caches are too old":         {pass{resource: web, snapshot: seen, state: release.Drifted, acted: true, err: wrong}, nil, metrics.Deferred},
		"others roll out":                {pass{resource: web, snapshot: seen, state: release.OutOfDate}, nil, metrics.Deferred},
		"it cannot be rendered":          {pass{resource: web, snapshot: seen, err: wrong, reported: true}, nil, metrics.Failed},
		"a write is refused":             {pass{resource: web, snapshot: seen, state: release.Absent, acted: true, err: wrong, reported: true}, nil, metrics.Failed},
		"objects are written":            {pass{resource: web, snapshot: seen, state: release.Absent, acted: true}, nil, metrics.Acted},
		"objects are written and told":   {pass{resource: web, snapshot: seen, state: release.Drifted, acted: true, reported: true}, nil, metrics.Acted},
		"everything is as it should be":  {pass{resource: web, snapshot: seen, state: release.InSync, reported: true}, nil, metrics.Unchanged},
		"it is paused and left as it is": {pass{resource: web, snapshot: seen, paused: true, reported: true}, nil, metrics.Unchanged},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := test.pass.outcome(test.err); got != test.want {
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
		if err != nil {
			t.Fatal(err)
		}
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
	if err := b.client.Delete(t.Context(), b.web(t)); err != nil {
		t.Fatal(err)
	}
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

// An action may take several reconciles; what they waited for in between is not counted.
func TestWhatAnActionTakesAddsUp(t *testing.T) {
	b := newBench(t, "nginx")
	b.Live = interceptor.NewClient(b.client.(client.WithWatch), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			b.clock.SetTime(b.clock.Now().Add(100 * time.Millisecond))
			return apierrors.NewNotFound(schema.GroupResource{Resource: "appservices"}, "web")
		},
	})
	b.released(t) // and its objects are missing
	for range 2 {
		b.reconcile(t)
		b.clock.SetTime(b.clock.Now().Add(staleRetry))
	}
	if got := b.memory.resources[webName].took; got != 200*time.Millisecond {
		t.Errorf("got %s, want 200ms", got)
	}
	b.installed(t)
	b.reconcile(t)
	if got := b.memory.resources[webName].took; got != 0 {
		t.Errorf("the next action begins at %s", got)
	}
}

func TestActionsAreCounted(t *testing.T) {
	all, clock := metrics.New(), clocktesting.NewFakePassiveClock(start)
	r := &Reconciler{Metrics: all.Kind("AppService", &chart.Metadata{}), Clock: clock}
	object := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	}
	plan := &release.Plan{
		Create: []*unstructured.Unstructured{object("Service")},
		Apply:  []release.Change{{Desired: object("Deployment")}, {Desired: object("Deployment")}},
		Delete: []client.Object{object("Ingress")},
	}
	known := &remembered{took: 2 * time.Second}
	for _, state := range []release.State{release.InSync, release.Absent, release.OutOfDate, release.Unfinished, release.Drifted, ""} {
		known.took = 2 * time.Second
		r.measureAction(&pass{state: state, plan: plan, memory: known})
		if known.took != 0 {
			t.Errorf("%s: the next action begins at %s", state, known.took)
		}
	}
	failed := &pass{
		resource: object("AppService"), snapshot: &cluster.Snapshot{}, plan: plan, memory: known, state: release.OutOfDate,
		acted: true, reported: true, err: errors.New("refused"),
	}
	r.measure(failed, start, nil)
	failed.err = &release.StaleError{Err: errors.New("it passes")}
	r.measure(failed, start, nil)
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

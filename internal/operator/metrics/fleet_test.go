package metrics

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1 "github.com/example/appservice-operator/api/v1"
)

var appService = v1.GroupVersion.WithKind(v1.Kind)

// informer is a cache that holds resources.
type informer struct {
	client.Reader
	items []unstructured.Unstructured
	err   error
}

func (i *informer) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*unstructured.UnstructuredList).Items = i.items
	return i.err
}

// resource has conditions, each as in "Ready False RolloutStalled".
func resource(namespace, name string, conditions ...string) unstructured.Unstructured {
	var list []any
	for _, condition := range conditions {
		parts := strings.Fields(condition)
		list = append(list, map[string]any{"type": parts[0], "status": parts[1], "reason": parts[2], "message": "no label"})
	}
	content := map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name}}
	if list != nil {
		content["status"] = map[string]any{"conditions": list}
	}
	return unstructured.Unstructured{Object: content}
}

// run shows a fleet until the test, or stop, ends it.
func run(t testing.TB, fleet *Fleet) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	before := fleet.shown.count()
	go func() {
		defer close(done)
		_ = fleet.Start(ctx)
	}()
	for deadline := time.Now().Add(time.Minute); fleet.shown.count() == before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the fleet does not start")
		}
	}
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func (s *fleets) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list)
}

func TestConditionsAreThoseOfTheMoment(t *testing.T) {
	const head = `# HELP appservice_condition A condition of a resource as it is now; always 1. The series of another status or reason ends.
# TYPE appservice_condition gauge
`
	line := func(namespace, name, kind, status, reason string) string {
		return fmt.Sprintf("appservice_condition{kind=\"AppService\",name=%q,namespace=%q,reason=%q,status=%q,type=%q} 1\n", name, namespace, reason, status, kind)
	}
	cases := map[string]struct {
		items []unstructured.Unstructured
		err   error
		want  string // without the head
		count int
	}{
		"no resources":           {},
		"one without conditions": {items: []unstructured.Unstructured{resource("demo", "web")}, count: 1},
		"one with conditions": {
			items: []unstructured.Unstructured{resource("demo", "web", "Stalled False AsExpected", "Ready True Running")},
			want:  line("demo", "web", "Stalled", "False", "AsExpected") + line("demo", "web", "Ready", "True", "Running"), count: 1,
		},
		"two of a name in two namespaces": {
			items: []unstructured.Unstructured{resource("one", "web", "Ready False RollingOut"), resource("two", "web", "Ready Unknown Paused")},
			want:  line("one", "web", "Ready", "False", "RollingOut") + line("two", "web", "Ready", "Unknown", "Paused"), count: 2,
		},
		"conditions of others and twice the same": {
			items: []unstructured.Unstructured{resource("demo", "web", "Theirs True Whatever", "Ready True Running", "Ready False RollingOut")},
			want:  line("demo", "web", "Ready", "True", "Running"), count: 1,
		},
		"a cache that cannot be read": {items: []unstructured.Unstructured{resource("demo", "web", "Ready True Running")}, err: errors.New("not now")},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			m, cache := New(), &informer{items: test.items, err: test.err}
			stop := run(t, m.Fleet(appService, cache))
			if test.want != "" {
				test.want = head + test.want
			}
			assert.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(test.want), "appservice_condition"))
			if test.err == nil {
				want := fmt.Sprintf("# HELP appservice_resources Resources that the operator serves.\n# TYPE appservice_resources gauge\nappservice_resources{kind=\"AppService\"} %d\n", test.count)
				assert.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(want), "appservice_resources"))
			}
			cache.items = nil // they are deleted
			if got := testutil.CollectAndCount(m, "appservice_condition"); got != 0 {
				t.Errorf("got %d series of resources that are gone", got)
			}
			cache.items = test.items
			stop()
			if got := testutil.CollectAndCount(m, "appservice_condition", "appservice_resources"); got != 0 {
				t.Errorf("got %d series after the manager ended", got)
			}
		})
	}
}

// releasedWith gives a resource a release of a chart version.
func releasedWith(resource unstructured.Unstructured, version string) unstructured.Unstructured {
	_ = unstructured.SetNestedStringMap(resource.Object, map[string]string{"chartVersion": version, "chartDigest": "0123456789ab"}, "status", "release")
	return resource
}

func TestChartsAreCountedAndTheirNumberIsBounded(t *testing.T) {
	m, cache := New(), &informer{}
	for i := range 30 {
		version := "1.0.0"
		if i >= 10 {
			version = fmt.Sprintf("2.0.%d", i)
		}
		cache.items = append(cache.items, releasedWith(resource("demo", fmt.Sprintf("app-%d", i)), version))
	}
	cache.items = append(cache.items, resource("demo", "new"))
	run(t, m.Fleet(appService, cache))
	text, err := testutil.CollectAndFormat(m, expfmt.TypeTextPlain, "appservice_chart_resources")
	require.NoError(t, err)
	for _, line := range []string{
		`appservice_chart_resources{digest="0123456789ab",kind="AppService",version="1.0.0"} 10`,
		`appservice_chart_resources{digest="0123456789ab",kind="AppService",version="2.0.10"} 1`,
		`appservice_chart_resources{digest="other",kind="AppService",version="other"} 11`,
	} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("%s is missing:\n%s", line, text)
		}
	}
	if got := testutil.CollectAndCount(m, "appservice_chart_resources"); got != 11 {
		t.Errorf("got %d series, want 11", got)
	}
}

func TestWhatTwoManagersServeIsShownOnce(t *testing.T) {
	m, cache := New(), &informer{items: []unstructured.Unstructured{resource("demo", "web", "Ready True Running")}}
	run(t, m.Fleet(appService, cache))
	run(t, m.Fleet(appService, cache))
	run(t, m.Fleet(schema.GroupVersionKind{Group: "other", Version: "v1", Kind: v1.Kind}, cache))
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	if count, err := testutil.GatherAndCount(registry, "appservice_condition"); err != nil || count != 1 {
		t.Errorf("got %d series (error %v), want 1", count, err)
	}
}

func TestOnlyTheLeaderShowsTheFleet(t *testing.T) {
	var fleet manager.LeaderElectionRunnable = New().Fleet(appService, &informer{})
	if !fleet.NeedLeaderElection() {
		t.Error("every manager shows it")
	}
}

// thousand is a fleet of that many resources, with all conditions.
func thousand(t testing.TB) *prometheus.Registry {
	t.Helper()
	cache := &informer{}
	for i := range 1000 {
		cache.items = append(cache.items, resource(fmt.Sprintf("team-%d", i%20), fmt.Sprintf("app-%d", i), "Ready True Running", "Available True MinimumReplicasAvailable",
			"Progressing True NewReplicaSetAvailable", "Deployed True Installed", "Reconciling False AsExpected", "Stalled False AsExpected"))
	}
	m, registry := New(), prometheus.NewRegistry()
	run(t, m.Fleet(appService, cache))
	registry.MustRegister(m)
	return registry
}

func TestAScrapeOfManyResourcesAllocatesLittle(t *testing.T) {
	registry := thousand(t)
	allocations := testing.AllocsPerRun(3, func() {
		if families, err := registry.Gather(); err != nil || len(families) == 0 {
			t.Errorf("got %d families and the error %v", len(families), err)
		}
	})
	if each := allocations / 1000; each > 40 { // most of them are the registry's
		t.Errorf("got %.0f allocations for each resource", each)
	}
}

func BenchmarkScrape(b *testing.B) {
	registry := thousand(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}

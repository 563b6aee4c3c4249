package controller

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/fleet"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
)

// brings puts a chart to use with a template more.
func (b *bench) brings(text string) {
	earlier := b.Charts.Get()
	changed := *earlier.Chart
	file := &chart.File{Name: "templates/more.yaml", Data: []byte(text)}
	changed.Templates = append(slices.Clone(changed.Templates), file)
	changed.Raw = []*chart.File{file}
	b.Charts.Set(&render.Renderer{Chart: &changed, Translator: earlier.Translator, Hooks: earlier.Hooks})
}

const (
	failing = `{{ fail "no more" }}`
	another = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n"
)

var otherName = types.NamespacedName{Namespace: "demo", Name: "other"}

// deployedBench is a bench with a resource that is deployed and ready, and another one in the fleet. What is recorded needs no repair.
func deployedBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, "nginx")
	b.Gates.Chart.Names = func() ([]types.NamespacedName, error) { return []types.NamespacedName{webName, otherName}, nil }
	b.installed(t)
	b.reconcile(t)
	b.Gates.Chart.Note(b.Chart(), otherName, fleet.Standing{})
	snapshot, err := b.Observer.Snapshot(t.Context(), app("web-uid"), nil)
	require.NoError(t, err)
	b.memory.of(webName).verified = release.VerifyLastGood(snapshot.Record.Digest, snapshot.Objects)
	b.events()
	return b
}

// held fails the test unless the resource is ready with the release that it has, and says why no other comes.
func (b *bench) held(t *testing.T, why ...string) {
	t.Helper()
	web := b.web(t)
	if !meta.IsStatusConditionTrue(web.Status.Conditions, v1.ConditionReady) || !meta.IsStatusConditionTrue(web.Status.Conditions, v1.ConditionDeployed) {
		t.Errorf("it is not ready: %+v", web.Status.Conditions)
	}
	if len(web.Status.Problems) != 1 || web.Status.Problems[0].Reason != v1.ReasonRolloutHeldBack {
		t.Fatalf("got the problems %+v", web.Status.Problems)
	}
	for _, part := range why {
		if message := web.Status.Problems[0].Message; !strings.Contains(message, part) {
			t.Errorf("got %q, want %q in it", message, part)
		}
	}
}

func TestAChartThatCannotBeRenderedLeavesTheResourceReady(t *testing.T) {
	b := deployedBench(t)
	b.brings(failing)
	b.reconcile(t)
	if b.statuses != 1 {
		t.Error("a status was written before the other resource was looked at")
	}
	b.Gates.Chart.Note(b.Chart(), otherName, fleet.Standing{Waits: true})
	for range 2 {
		b.reconcile(t)
	}
	b.held(t, "chart tiny 0.1.0", "cannot be rendered for this resource", "no more")
	if hold := b.Gates.Chart.Hold(b.Chart()); hold.Verdict != fleet.Refused || !strings.Contains(hold.Message, "demo/web") {
		t.Errorf("got %+v, want that nobody gets the chart", hold)
	}
	if events := b.events(); len(events) != 1 || !strings.Contains(events[0], "Warning RenderFailed chart tiny 0.1.0") {
		t.Errorf("got the events %q, want one", events)
	}
	b.change(t, "refused") // by the chart before, too
	b.reconcile(t)
	if ready := meta.FindStatusCondition(b.web(t).Status.Conditions, v1.ConditionReady); ready.Reason != v1.ReasonRenderFailed {
		t.Errorf("got %+v: a mistake of the user's is the chart's", ready)
	}
	if hold := b.Gates.Chart.Hold(b.Chart()); hold.Closed() {
		t.Errorf("got %+v, though what the user asks for counts no more", hold)
	}
}

func TestAResourceWaitsWhileAChartCannotBeRenderedForAnother(t *testing.T) {
	b := deployedBench(t)
	b.brings(another)
	b.Gates.Chart.Note(b.Chart(), otherName, fleet.Standing{Waits: true, Unfit: true})
	for range 2 {
		b.reconcile(t)
	}
	b.held(t, "is held back, because it cannot be rendered for demo/other")
	if resources := b.web(t).Status.Resources; len(resources) != 1 || resources[0].Name == "more" {
		t.Errorf("got the resources %+v, want those of the recorded release", resources)
	}
	if events := b.events(); len(events) != 0 {
		t.Errorf("got the events %q, want none: it is not at fault", events)
	}
}

func TestWhatMayNotCountAgainstAChart(t *testing.T) {
	b := deployedBench(t)
	b.brings(failing)
	b.Gates.Chart.Note(b.Chart(), otherName, fleet.Standing{Waits: true})
	web := b.web(t)
	meta.SetStatusCondition(&web.Status.Conditions, metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonRenderFailed})
	require.NoError(t, b.client.Status().Update(t.Context(), web))
	b.reconcile(t)
	if hold := b.Gates.Chart.Hold(b.Chart()); hold.Closed() {
		t.Errorf("a resource that could not be rendered before holds the chart back: %+v", hold)
	}
}

func TestTheMarkOfAChart(t *testing.T) {
	ready := deployedAt(2, metav1.ConditionTrue)
	ready.Conditions = append(ready.Conditions, metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionTrue})
	now := fleet.Asked{Chart: fleet.Chart{Identity: render.Identity{Digest: "new"}}}
	chart := fleet.Parts{Chart: true}
	earlier := &cluster.Record{Revision: 1, RenderedBy: "old"}
	marked := &cluster.Record{Revision: 1, RenderedBy: "old", Rollout: now.Mark(chart, 2)}
	live := running("one")
	changes := release.Compare([]*unstructured.Unstructured{running("two")}, map[kube.Key]client.Object{kube.KeyOf(live): live})
	cases := map[string]struct {
		previous *v1.AppServiceStatus
		record   *cluster.Record
		plan     *release.Plan
		mark     string // of the next record
		isNew    bool   // the present one has to get it first
	}{
		"a resource that is ready, and that nobody changed": {ready, earlier, changes, now.Mark(chart, 2), true},
		"one that was begun before":                         {deployedAt(2, metav1.ConditionFalse), marked, &release.Plan{}, now.Mark(chart, 2), false},
		"a resource that its user changed":                  {deployedAt(1, metav1.ConditionTrue), earlier, changes, "", false},
		"a resource that was not ready before":              {deployedAt(2, metav1.ConditionTrue), earlier, changes, "", false},
		"objects that do not change":                        {ready, earlier, &release.Plan{}, "", false},
		"a resource that the chart before changed":          {ready, &cluster.Record{RenderedBy: "old", Rollout: "old.2"}, changes, now.Mark(chart, 2), true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			resource := app("web")
			resource.SetGeneration(2)
			s := &scope{resource: resource, previous: test.previous, asked: now, memory: &remembered{}}
			mark, isNew := s.mark(release.OutOfDate, test.plan, test.record)
			if mark != test.mark || isNew != test.isNew {
				t.Errorf("got the mark %q, new: %t; want %q, %t", mark, isNew, test.mark, test.isNew)
			}
		})
	}
}

package controller

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
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

const failing = `{{ fail "no more" }}`

// deployedBench is a bench with a resource that is deployed and ready. The recorded release needs no repair.
func deployedBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, "nginx")
	b.installed(t)
	b.reconcile(t)
	snapshot, err := b.Observer.Snapshot(t.Context(), app("web-uid"), nil)
	require.NoError(t, err)
	b.memory.of(webName).verified = plan.Verify(snapshot.Record.Digest, snapshot.Objects)
	b.memory.of(webName).recorded = &recorded{record: snapshot.Record.UID, keys: slices.Collect(maps.Keys(snapshot.Objects))}
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
	for range 2 {
		b.reconcile(t)
	}
	b.held(t, "chart tiny 0.1.0", "cannot be rendered for this resource", "no more")
	if events := b.events(); len(events) != 1 || !strings.Contains(events[0], "Warning RenderFailed chart tiny 0.1.0") {
		t.Errorf("got the events %q, want one", events)
	}
	b.change(t, "refused") // by the chart before, too
	b.reconcile(t)
	if ready := meta.FindStatusCondition(b.web(t).Status.Conditions, v1.ConditionReady); ready.Reason != v1.ReasonRenderFailed {
		t.Errorf("got %+v: a mistake of the user's is the chart's", ready)
	}
}

// Facts of the cluster are reported as what they are, whether a chart is new or not.
func TestFactsAreNotTheFaultOfAChart(t *testing.T) {
	b := deployedBench(t)
	b.brings("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n")
	b.source.err = errors.New("forbidden")
	b.reconcile(t)
	ready := meta.FindStatusCondition(b.web(t).Status.Conditions, v1.ConditionReady)
	if ready.Status != metav1.ConditionFalse || ready.Reason != v1.ReasonAPIUnavailable {
		t.Errorf("got %+v, want that a kind cannot be watched", ready)
	}
	if !deployed(&scope{previous: &b.web(t).Status, resource: app("web-uid")}) {
		t.Error("the spec counts as one that its user has changed")
	}
}

// A list that the API server has not sent yet is no answer: a resource that serves stays ready, however long that takes.
func TestNothingIsSaidWhileAKindIsNotListedYet(t *testing.T) {
	b := deployedBench(t)
	before, written := b.web(t).Status, b.statuses
	b.brings("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n")
	b.source.err = fmt.Errorf("of ConfigMaps: %w", kube.ErrUnlisted)
	for range 3 {
		if next := b.reconcile(t); next != staleRetry {
			t.Errorf("the next one comes after %s, want %s", next, staleRetry)
		}
		b.clock.SetTime(b.clock.Now().Add(time.Minute))
	}
	if now := b.web(t).Status; b.statuses != written || !reflect.DeepEqual(now, before) {
		t.Errorf("after %d writes more, it is %+v", b.statuses-written, now.Conditions)
	}
}

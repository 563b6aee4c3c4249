package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// repairing returns a plan that creates a ConfigMap and applies a Deployment.
func repairing() *plan.Plan {
	object := func(apiVersion, kind string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
		o.SetName("web")
		return o
	}
	return &plan.Plan{
		Create: []*unstructured.Unstructured{object("v1", "ConfigMap")},
		Apply:  []plan.Change{{Desired: object("apps/v1", "Deployment"), Field: "spec.replicas"}},
	}
}

func TestWhatIsContendedIsLeftOutOfAPlan(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(start)
	r := &Reconciler{Clock: clock}
	s := &scope{resource: app("a"), memory: &remembered{}}
	there := &livestate.Snapshot{}
	both := repairing()
	for range 2 {
		require.NoError(t, r.spareContended(t.Context(), s, both, there))
		require.Len(t, both.Create, 1)
		require.Len(t, both.Apply, 1)
		r.noteRepairs(s, &plan.Plan{Apply: both.Apply})
	}
	err := r.spareContended(t.Context(), s, both, there)
	var contended *release.ContendedError
	if !errors.As(err, &contended) || contended.Wait != 10*time.Second || contended.Field != "Deployment web: spec.replicas" {
		t.Errorf("got %v", err)
	}
	require.ErrorContains(t, err, "is changed each time it is restored, last by another writer", "the object is gone")
	require.ErrorContains(t, &release.ContendedError{Field: "Deployment web: spec.replicas"}, "no other writer is known")
	if len(both.Apply) != 0 || len(both.Create) != 1 {
		t.Errorf("got the plan %v, want the ConfigMap alone", both)
	}
	done := attempt{err: err, observed: there}
	if got := r.next(s, rendering{}, done, 0).RequeueAfter; got != contended.Wait {
		t.Errorf("it is reconciled after %s, want %s", got, contended.Wait)
	}
	clock.SetTime(start.Add(contended.Wait))
	require.NoError(t, r.spareContended(t.Context(), s, repairing(), there))
	clock.SetTime(start.Add(time.Hour))
	r.noteRepairs(s, &plan.Plan{})
	if len(s.memory.contests) != 0 {
		t.Errorf("%v are remembered although nobody changed them for long", s.memory.contests)
	}
}

// Leftovers of an earlier resource are looked for less and less often.
func TestAnEarlierResourceIsWaitedForWithABackoff(t *testing.T) {
	r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(start)}
	s := &scope{resource: app("a"), memory: &remembered{}}
	done := attempt{err: &release.PreviousError{Left: []release.Remnant{{Key: kube.Key{Name: "web"}}}}, observed: &livestate.Snapshot{}}
	for _, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} {
		if got := r.next(s, rendering{}, done, 0).RequeueAfter; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

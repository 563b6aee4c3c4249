package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
)

func app(uid, resourceVersion string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "app.example.com/v1", "kind": "AppService"}}
	o.SetNamespace("demo")
	o.SetName("web")
	o.SetUID(types.UID(uid))
	o.SetResourceVersion(resourceVersion)
	return o
}

func TestNewest(t *testing.T) {
	cases := map[string]struct {
		written, cached string // resource versions
		want            string
		kept            bool
	}{
		"nothing was written":                   {"", "5", "5", false},
		"the cache is behind":                   {"10", "9", "10", true},
		"the cache shows what was written":      {"10", "10", "10", false},
		"the cache is ahead":                    {"10", "11", "11", false},
		"the cache is behind by one digit":      {"1000", "999", "1000", true},
		"the version cannot be compared":        {"x", "9", "9", false},
		"the cached version cannot be compared": {"10", "", "", false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			for by, look := range map[string]func(*Writer, *unstructured.Unstructured){
				"a reconcile": func(w *Writer, cached *unstructured.Unstructured) {
					if got := w.Newest(cached).GetResourceVersion(); got != test.want {
						t.Errorf("got version %q, want %q", got, test.want)
					}
				},
				"an event": func(w *Writer, cached *unstructured.Unstructured) { w.foreign(app("a", "1"), cached) },
			} {
				w := &Writer{}
				known := w.of(app("a", "1"))
				if test.written != "" {
					known.resource = app("a", test.written)
				}
				look(w, app("a", test.cached))
				if kept := known.resource != nil; kept != test.kept {
					t.Errorf("what was written is remembered after %s: %t, want %t", by, kept, test.kept)
				}
			}
		})
	}
}

// saying is a version of a resource whose status has a phase.
func saying(t *testing.T, resourceVersion string, phase v1.Phase) *unstructured.Unstructured {
	t.Helper()
	return withStatus(t, resourceVersion, &v1.AppServiceStatus{Phase: phase})
}

func withStatus(t *testing.T, resourceVersion string, status *v1.AppServiceStatus) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	require.NoError(t, err)
	o := app("a", resourceVersion)
	o.Object["status"] = content
	return o
}

func TestAStatusThatSomebodyElseWroteIsPutRight(t *testing.T) {
	cases := map[string]struct {
		before, after *unstructured.Unstructured
		unknown       bool // the resource has not been reconciled
		want          int
	}{
		"our own write":                       {saying(t, "1", ""), saying(t, "2", v1.PhaseRunning), false, 0},
		"somebody else's":                     {saying(t, "1", v1.PhaseRunning), saying(t, "2", v1.PhaseFailed), false, 1},
		"somebody took it away":               {saying(t, "1", v1.PhaseRunning), app("a", "2"), false, 1},
		"a change of something else":          {saying(t, "1", v1.PhaseFailed), saying(t, "2", v1.PhaseFailed), false, 0},
		"a resource that is new":              {saying(t, "1", ""), saying(t, "2", v1.PhaseFailed), true, 0},
		"a resource that was made again":      {app("b", "1"), func() *unstructured.Unstructured { o := saying(t, "2", v1.PhaseFailed); o.SetUID("b"); return o }(), false, 0},
		"our own, which somebody wrote again": {saying(t, "1", v1.PhaseFailed), saying(t, "2", v1.PhaseRunning), false, 0},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			stored := app("a", "")
			stored.Object["status"] = map[string]any{}
			w := &Writer{
				Client: fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(stored).WithStatusSubresource(stored).Build(),
				Clock:  clocktesting.NewFakePassiveClock(time.Time{}),
			}
			if !test.unknown {
				current := &v1.AppServiceStatus{Phase: v1.PhaseRunning}
				_, err := w.Write(t.Context(), app("a", "1"), &v1.AppServiceStatus{}, current, false)
				require.NoError(t, err)
			}
			w.Update(t.Context(), event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}, queue)
			if got := queue.Len(); got != test.want {
				t.Errorf("got %d requests, want %d", got, test.want)
			}
		})
	}
}

func TestWithoutRunsAStatusHasNoField(t *testing.T) {
	stored := withStatus(t, "", &v1.AppServiceStatus{Phase: v1.PhaseRunning, Runs: []v1.RunStatus{{Job: "web-1", Digest: "a"}}})
	w := &Writer{Client: fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(stored).WithStatusSubresource(stored).Build()}
	read := app("", "")
	require.NoError(t, w.Client.Get(t.Context(), client.ObjectKeyFromObject(read), read))
	after, err := w.NoteRuns(t.Context(), read, []v1.RunStatus{})
	require.NoError(t, err)
	if runs, found, _ := unstructured.NestedFieldNoCopy(after.Object, "status", "runs"); found {
		t.Errorf("the status has runs: %v", runs)
	}
}

// Two processes may lead for a moment, and each writes what differs from the status that it knows. The result never
// shows for one generation what was found for another.
func TestAStatusOfOneGenerationIsNeverTakenForThatOfAnother(t *testing.T) {
	said := func(generation int64, ready metav1.ConditionStatus, replicas int32) *v1.AppServiceStatus {
		return &v1.AppServiceStatus{ObservedGeneration: generation, Replicas: replicas, Conditions: []metav1.Condition{
			{Type: v1.ConditionReady, Status: ready, ObservedGeneration: generation, Reason: v1.ReasonRunning},
		}}
	}
	cases := map[string]struct{ stored, known, current *v1.AppServiceStatus }{
		"a former leader finds an earlier generation ready": {
			stored: said(2, metav1.ConditionFalse, 1), known: said(1, metav1.ConditionFalse, 1), current: said(1, metav1.ConditionTrue, 1),
		},
		"a former leader counts pods of an earlier generation": {
			stored: said(2, metav1.ConditionFalse, 1), known: said(1, metav1.ConditionTrue, 1), current: said(1, metav1.ConditionTrue, 2),
		},
		"a new leader counts pods after a former one wrote": {
			stored: said(1, metav1.ConditionTrue, 1), known: said(2, metav1.ConditionFalse, 1), current: said(2, metav1.ConditionFalse, 2),
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			stored := withStatus(t, "", test.stored)
			api := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(stored).WithStatusSubresource(stored).Build()
			w := &Writer{Client: api, Clock: clocktesting.NewFakePassiveClock(time.Time{})}
			_, err := w.Write(t.Context(), withStatus(t, "", test.known), test.known, test.current, false)
			require.NoError(t, err)
			live := app("a", "")
			require.NoError(t, api.Get(t.Context(), client.ObjectKeyFromObject(live), live))
			got, err := Of(live)
			require.NoError(t, err)
			ready := meta.FindStatusCondition(got.Conditions, v1.ConditionReady)
			if got.ObservedGeneration != ready.ObservedGeneration || ready.Status != meta.FindStatusCondition(test.current.Conditions, v1.ConditionReady).Status {
				t.Errorf("it speaks of generation %d, and Ready is %s of generation %d", got.ObservedGeneration, ready.Status, ready.ObservedGeneration)
			}
		})
	}
}

package release

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
)

// autoscaledWeb is a Deployment as it is rendered under autoscaling.
func autoscaledWeb(t *testing.T, initial int) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment,
		metadata: {name: web, namespace: demo, annotations: {%s: "%d"}}, spec: {selector: {matchLabels: {app: web}}}}`, v1.AnnotationInitialReplicas, initial))
}

// liveWeb is a Deployment as it is there, with the number of replicas that it wants.
func liveWeb(t *testing.T, replicas int64, annotations map[string]string) *unstructured.Unstructured {
	t.Helper()
	live := autoscaledWeb(t, 0)
	live.SetUID("web")
	live.SetAnnotations(annotations)
	put(t, live, replicas, "spec", "replicas")
	return live
}

// replicasOf gives the number of replicas that a Deployment wants, and what it says it started with.
func replicasOf(t *testing.T, d *unstructured.Unstructured) (replicas int64, startedWith string) {
	t.Helper()
	replicas, _, err := unstructured.NestedInt64(d.Object, "spec", "replicas")
	if err != nil {
		t.Fatal(err)
	}
	return replicas, d.GetAnnotations()[v1.AnnotationStartedWith]
}

func TestANewDeploymentStartsWithItsNumberAndSaysSo(t *testing.T) {
	cases := map[string]struct {
		created, initial int64
		note             string
		requests         []string
	}{
		"another number than the API server gives": {1, 3, "3", []string{"patch Deployment web"}},
		"none":                      {1, 0, "0", []string{"patch Deployment web"}},
		"what the API server gives": {1, 1, "", nil},
		"a number that somebody was quicker to set": {3, 3, "3", []string{"patch Deployment web"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			created := liveWeb(t, test.created, nil)
			s := newServer(t, created)
			a := &applier{client: s, live: s, observer: cluster.New(nil, nil)}
			if err := a.startReplicas(t.Context(), created, test.initial); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.log, test.requests) {
				t.Errorf("got the requests %q, want %q", s.log, test.requests)
			}
			for what, d := range map[string]*unstructured.Unstructured{"on the server": s.has(t, created), "in the journal": created} {
				if replicas, note := replicasOf(t, d); replicas != test.initial || note != test.note {
					t.Errorf("%s: got %d replicas, started with %q, want %d and %q", what, replicas, note, test.initial, test.note)
				}
			}
		})
	}
}

func TestAutoscalingTakesOverTheNumberThatIsThere(t *testing.T) {
	earlier := map[string]string{v1.AnnotationStartedWith: "7"}
	autoscaled := map[string]string{v1.AnnotationStartedWith: "7", v1.AnnotationInitialReplicas: "7"}
	rendered := func(t *testing.T) *unstructured.Unstructured {
		d := autoscaledWeb(t, 2)
		put(t, d, int64(2), "spec", "replicas")
		return d
	}
	takeOver := []string{"apply Deployment web by force as " + replicasManager}
	cases := map[string]struct {
		desired  *unstructured.Unstructured
		live     *unstructured.Unstructured
		note     string
		requests []string
	}{
		"for the first time":                {autoscaledWeb(t, 2), liveWeb(t, 4, nil), "4", takeOver},
		"again, where an old note is left":  {autoscaledWeb(t, 2), liveWeb(t, 4, earlier), "4", takeOver},
		"not while it goes on":              {autoscaledWeb(t, 2), liveWeb(t, 4, autoscaled), "7", nil},
		"not where the number is rendered":  {rendered(t), liveWeb(t, 4, earlier), "7", nil},
		"one that is what a new one starts": {autoscaledWeb(t, 2), liveWeb(t, 1, earlier), "1", takeOver},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, test.live)
			a := &applier{client: s, live: s, observer: cluster.New(nil, nil)}
			if err := a.handOverReplicas(t.Context(), Change{Desired: test.desired, Live: test.live}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.log, test.requests) {
				t.Errorf("got the requests %q, want %q", s.log, test.requests)
			}
			want, _ := replicasOf(t, test.live)
			if replicas, note := replicasOf(t, s.has(t, test.live)); replicas != want || note != test.note {
				t.Errorf("got %d replicas, started with %q, want %d and %q", replicas, note, want, test.note)
			}
		})
	}
}

// The note is not rendered, so it must not count as drift.
func TestTheNoteOfWhatAutoscalingStartedWithIsNoDrift(t *testing.T) {
	desired, live := autoscaledWeb(t, 5), autoscaledWeb(t, 5)
	put(t, live, "2", "metadata", "annotations", v1.AnnotationStartedWith)
	put(t, live, int64(9), "spec", "replicas")
	if plan := Compare([]*unstructured.Unstructured{desired}, there(live)); !plan.Empty() {
		t.Errorf("got %s, want nothing to write", plan)
	}
}

func TestADeploymentThatIsNoLongerAutoscaledForgetsItsStart(t *testing.T) {
	for name, test := range map[string]struct {
		annotations map[string]string
		requests    []string
	}{
		"it says so":             {map[string]string{v1.AnnotationStartedWith: "3"}, []string{"patch Deployment web"}},
		"it says nothing":        {nil, nil},
		"it is still autoscaled": {map[string]string{v1.AnnotationStartedWith: "3", v1.AnnotationInitialReplicas: "3"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			written := liveWeb(t, 3, test.annotations)
			s := newServer(t, written)
			a := &applier{client: s, live: s, observer: cluster.New(nil, nil)}
			if err := a.forgetStart(t.Context(), written); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.log, test.requests) {
				t.Errorf("got %q, want %q", s.log, test.requests)
			}
			if _, note := replicasOf(t, s.has(t, written)); len(test.requests) > 0 && note != "" {
				t.Errorf("it still says %q", note)
			}
		})
	}
}

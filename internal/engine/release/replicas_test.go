package release

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// autoscaledWeb is a Deployment as it is rendered under autoscaling.
func autoscaledWeb(t *testing.T, initial int) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment,
		metadata: {name: web, namespace: demo, annotations: {%s: "%d"}}, spec: {selector: {matchLabels: {app: web}}}}`, v1.AnnotationInitialReplicas, initial))
}

// liveWeb is a live Deployment with a number of replicas.
func liveWeb(t *testing.T, replicas int64, annotations map[string]string) *unstructured.Unstructured {
	t.Helper()
	live := autoscaledWeb(t, 0)
	live.SetUID("web")
	live.SetAnnotations(annotations)
	put(t, live, replicas, "spec", "replicas")
	return live
}

// replicasOf returns the number of replicas of a Deployment, and the noted number that it started with.
func replicasOf(t *testing.T, d *unstructured.Unstructured) (replicas int64, startedWith string) {
	t.Helper()
	replicas, _, err := unstructured.NestedInt64(d.Object, "spec", "replicas")
	require.NoError(t, err)
	return replicas, d.GetAnnotations()[v1.AnnotationStartedWith]
}

func TestANewDeploymentStartsWithItsNumberAndSaysSo(t *testing.T) {
	for _, initial := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(initial), func(t *testing.T) {
			s := newServer(t)
			a, observer := newApplier(t, s, s)
			desired := autoscaledWeb(t, initial)
			if _, err := a.execute(t.Context(), &plan.Plan{Create: []*unstructured.Unstructured{desired}}); err != nil {
				t.Fatal(err)
			}
			if want := []string{"apply Deployment web", "apply Deployment web by force as " + replicasManager}; !slices.Equal(s.log, want) {
				t.Errorf("got the requests %q, want %q", s.log, want)
			}
			live := s.shown(t, desired)
			if replicas, note := replicasOf(t, live); replicas != int64(initial) || note != fmt.Sprint(initial) {
				t.Errorf("got %d replicas, started with %q, want %d of each", replicas, note, initial)
			}
			if plan.UnsettledReplicas(desired, noted(t, observer)[kube.KeyOf(desired)]) {
				t.Error("the journal has them as not settled")
			}
		})
	}
}

// Whatever interrupts the creation, the existing objects show the remaining steps.
func TestAStartThatWasInterruptedIsCompleted(t *testing.T) {
	s := newServer(t)
	a, _ := newApplier(t, s, s)
	desired := autoscaledWeb(t, 5)
	s.refuse = func(request string) error {
		if request == "apply Deployment web by force as "+replicasManager {
			return invalid("web")
		}
		return nil
	}
	if _, err := a.execute(t.Context(), &plan.Plan{Create: []*unstructured.Unstructured{desired}}); err == nil {
		t.Fatal("the note was written")
	}
	live := s.shown(t, desired)
	if replicas, _ := replicasOf(t, live); replicas != 5 {
		t.Errorf("it starts with %d replicas, want 5", replicas)
	}
	s.refuse = func(string) error { return nil }
	plan := plan.Compare([]*unstructured.Unstructured{desired}, there(s.shown(t, desired)))
	if got, want := plan.String(), "apply Deployment web"; got != want {
		t.Errorf("got the plan %q, want %q", got, want)
	}
	if _, err := a.execute(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if replicas, note := replicasOf(t, s.shown(t, desired)); replicas != 5 || note != "5" {
		t.Errorf("got %d replicas, started with %q, want 5 of each", replicas, note)
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
			a, _ := newApplier(t, s, s)
			if _, err := a.takeOver(t.Context(), plan.Change{Desired: test.desired, Live: s.shown(t, test.live)}); err != nil {
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

func TestADeploymentThatIsNoLongerAutoscaledForgetsItsStart(t *testing.T) {
	for name, test := range map[string]struct {
		desired     *unstructured.Unstructured
		annotations map[string]string
		requests    []string
	}{
		"it says so":             {liveWeb(t, 3, nil), map[string]string{v1.AnnotationStartedWith: "3"}, []string{"patch Deployment web"}},
		"it says nothing":        {liveWeb(t, 3, nil), nil, nil},
		"it is still autoscaled": {autoscaledWeb(t, 3), map[string]string{v1.AnnotationStartedWith: "3", v1.AnnotationInitialReplicas: "3"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			written := liveWeb(t, 3, test.annotations)
			s := newServer(t, written)
			a, _ := newApplier(t, s, s)
			require.NoError(t, a.forgetStart(t.Context(), test.desired, s.shown(t, written)))
			if !slices.Equal(s.log, test.requests) {
				t.Errorf("got %q, want %q", s.log, test.requests)
			}
			if _, note := replicasOf(t, s.has(t, written)); len(test.requests) > 0 && note != "" {
				t.Errorf("it still says %q", note)
			}
		})
	}
}

// An existing workload that the caches do not show keeps the number of replicas that it has.
func TestAnAutoscaledWorkloadIsTakenBackWithTheReplicasThatItHas(t *testing.T) {
	autoscaled := func(annotations string) string {
		return fmt.Sprintf(`{apiVersion: apps/v1, kind: %%s, metadata: {name: web, namespace: demo, annotations: {app.example.com/rendered: one, %s}}, spec: {%%s}}`, annotations)
	}
	scales := autoscaled(v1.AnnotationInitialReplicas + `: "1"`)
	settled := autoscaled(v1.AnnotationInitialReplicas + `: "1", ` + v1.AnnotationStartedWith + `: "1"`)
	for name, was := range map[string]struct{ live, manager string }{
		"autoscaled before":             {settled, replicasManager},
		"not autoscaled before":         {autoscaled(""), FieldManager},
		"whose start was not completed": {scales, FieldManager},
	} {
		for _, kind := range []string{"Deployment", "StatefulSet"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				s := newServer(t)
				a, _ := newApplier(t, s, s)
				desired := object(t, fmt.Sprintf(scales, kind, "minReadySeconds: 1"))
				before := object(t, fmt.Sprintf(was.live, kind, "replicas: 10"))
				require.NoError(t, s.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(before), client.FieldOwner(was.manager)))
				touch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"touched":"yes"}}}`))
				require.NoError(t, s.Patch(t.Context(), before, touch)) // the first version of this server is one that no object has
				plan := &plan.Plan{Create: []*unstructured.Unstructured{desired}}
				created, err := a.execute(t.Context(), plan)
				require.NoError(t, err)
				if replicas, _ := replicasOf(t, s.shown(t, desired)); replicas != 10 || len(created) > 0 {
					t.Errorf("it has %d replicas, and %d objects count as created, want 10 and none: %q", replicas, len(created), s.log)
				}
				if seconds, _, _ := unstructured.NestedInt64(s.shown(t, desired).Object, "spec", "minReadySeconds"); seconds != 1 {
					t.Errorf("it is not as rendered: %v", s.shown(t, desired).Object["spec"])
				}
			})
		}
	}
}

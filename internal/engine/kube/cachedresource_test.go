package kube

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// resource is an AppService with a spec and an annotation, as the API server sends it.
func resource(t *testing.T, spec, annotation string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	text := `{"apiVersion": "app.example.com/v1", "kind": "AppService",
		"metadata": {"namespace": "demo", "name": "web", "uid": "u", "resourceVersion": "7", "generation": 3, "labels": {"a": "b"},
			"creationTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["other.example.com/x"], "annotations": {"note": "` + annotation + `"},
			"managedFields": [{"manager": "kubectl"}]},
		"spec": ` + spec + `, "status": {"phase": "Running"}, "extra": [1, 2.5, "<&>", null, true]}`
	require.NoError(t, o.UnmarshalJSON([]byte(text)))
	return o
}

// cached is a resource as the cache holds it.
func cached(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	for range 2 { // informers may do it twice
		out, err := Transform(map[schema.GroupVersionKind]limits.Bound{appServices: 0})(o)
		require.NoError(t, err)
		o = out.(*unstructured.Unstructured)
	}
	return o
}

func TestAResourceComesOutOfTheCacheAsItWentIn(t *testing.T) {
	want := resource(t, `{"image": "nginx", "size": 3, "ratio": 0.5, "args": ["<", "\u2028"], "none": {}, "empty": []}`, "n")
	kept := cached(t, want.DeepCopy())
	if kept.Object["spec"] != nil || kept.GetName() != "web" || kept.GetGeneration() != 3 {
		t.Errorf("the cache holds %v", kept.Object)
	}
	got, size, err := Expand(kept.DeepCopy())
	if err != nil || size < 100 || size > 500 {
		t.Fatalf("got %d bytes, %v", size, err)
	}
	want.SetManagedFields(nil)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, again, _ := Expand(kept); again != size {
		t.Errorf("it has %d bytes the second time, %d the first", again, size)
	}
	if same, size, err := Expand(want); same != want || size != 0 || err != nil {
		t.Error("what is not compact was changed")
	}
}

// kubectl apply writes the whole resource into an annotation, which nobody wrote in the resource.
func TestWhatKubectlAddsDoesNotCount(t *testing.T) {
	spec := `{"config": {"files": {"a": "` + strings.Repeat("x", 28<<10) + `"}}}`
	want := resource(t, spec, "n")
	want.SetManagedFields(nil)
	applied := resource(t, spec, "n")
	applied.SetAnnotations(map[string]string{"note": "n", corev1.LastAppliedConfigAnnotation: spec})
	plain, size, err := Expand(cached(t, want))
	require.NoError(t, err)
	got, same, err := Expand(cached(t, applied.DeepCopy()))
	if err != nil || same != size || !reflect.DeepEqual(got, plain) {
		t.Errorf("it has %d bytes, %d without what kubectl adds, and annotations %v: %v", same, size, got.GetAnnotations(), err)
	}
	if len(applied.GetAnnotations()) != 2 {
		t.Error("what the API server sent was changed")
	}
}

func TestNextToNothingIsKeptOfAResourceThatIsTooLarge(t *testing.T) {
	large := strings.Repeat("x", limits.Resource)
	many := `"` + strings.Repeat(`x", "`, limits.Resource/4) + `"`
	cases := map[string]struct{ spec, annotation, kept string }{
		"one text":                           {`{"image": "` + large + `", "paused": true, "ttl": "72h"}`, "", "map[paused:true ttl:72h]"},
		"many small items":                   {`{"args": [` + many + `], "paused": false}`, "", "map[paused:false]"},
		"an annotation":                      {`{"image": "x"}`, large, "map[]"},
		"a spec that is not a map":           {`"` + large + `"`, "", "map[]"},
		"what would be kept is large itself": {`{"ttl": "` + large + `", "paused": [` + many + `]}`, "", "map[]"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			kept := cached(t, resource(t, test.spec, test.annotation))
			if left := weight(kept.Object); left > 1<<10 {
				t.Errorf("%d bytes are left", left)
			}
			got, size, err := Expand(kept)
			if !limits.Is(err) || size <= limits.Resource {
				t.Fatalf("got %d bytes, %v", size, err)
			}
			if spec := fmt.Sprint(got.Object["spec"]); spec != test.kept {
				t.Errorf("of the spec is left %s, want %s", spec, test.kept)
			}
			if got.GetUID() != "u" || got.GetResourceVersion() != "7" || got.GetGeneration() != 3 || got.GetCreationTimestamp().Year() != 2026 ||
				!reflect.DeepEqual(got.GetFinalizers(), []string{"other.example.com/x"}) || got.Object["status"] == nil {
				t.Errorf("what has to be known of it is not kept: %v", got.Object)
			}
		})
	}
	finalizers := resource(t, `{}`, large)
	finalizers.SetFinalizers(append(strings.Split(strings.Repeat("a.example.com/b,", 1000), ","), v1.Finalizer))
	if got := cached(t, finalizers).GetFinalizers(); !reflect.DeepEqual(got, []string{v1.Finalizer}) {
		t.Errorf("of thousands of finalizers are left %v", got)
	}
}

func TestAResourceMayBeAsLargeAsTheBound(t *testing.T) {
	empty, err := Compact(resource(t, `{"image": ""}`, ""), 0)
	require.NoError(t, err)
	_, least, _ := Expand(empty)
	for more, refused := range map[int]bool{0: false, 1: true} {
		kept, _ := Compact(resource(t, `{"image": "`+strings.Repeat("x", limits.Resource-least+more)+`"}`, ""), 0)
		_, size, err := Expand(kept)
		if limits.Is(err) != refused {
			t.Errorf("%d bytes: got %v", size, err)
		}
	}
}

// An empty struct takes two bytes of a request, and fifty in memory.
func TestTheCachesCountMemoryRatherThanBytesOfRequests(t *testing.T) {
	owned := metav1.ObjectMeta{Name: "web", OwnerReferences: []metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: "AppService", Name: "web", UID: "u", Controller: ptr.To(true)}}}
	deployment := func(change func(*corev1.PodSpec)) *appsv1.Deployment {
		o := &appsv1.Deployment{ObjectMeta: *owned.DeepCopy()}
		o.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "nginx"}}
		change(&o.Spec.Template.Spec)
		return o
	}
	variables := func(count int) func(*corev1.PodSpec) {
		return func(pod *corev1.PodSpec) {
			for i := range count {
				pod.Containers[0].Env = append(pod.Containers[0].Env, corev1.EnvVar{Name: fmt.Sprint("VARIABLE_", i), Value: "value"})
			}
		}
	}
	cases := map[string]struct {
		object  *appsv1.Deployment
		outline bool
	}{
		"an ordinary one":  {deployment(variables(10)), false},
		"a hundred values": {deployment(variables(100)), false},
		"a thousand":       {deployment(variables(1000)), true},
		"empty terms": {deployment(func(pod *corev1.PodSpec) {
			pod.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: make([]corev1.NodeSelectorTerm, 2000),
			}}}
		}), true},
		"empty arguments": {deployment(func(pod *corev1.PodSpec) { pod.Containers[0].Args = make([]string, 4000) }), true},
	}
	for name, test := range cases {
		kept, err := Transform(map[schema.GroupVersionKind]limits.Bound{appServices: 0})(test.object)
		if err != nil || IsOutline(kept.(*appsv1.Deployment)) != test.outline {
			t.Errorf("%s: got %v, want an outline: %t; it has %d bytes as a request", name, err, test.outline, test.object.Size())
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	o := &unstructured.Unstructured{}
	_ = o.UnmarshalJSON([]byte(`{"apiVersion": "app.example.com/v1", "kind": "AppService", "metadata": {"name": "web", "namespace": "demo", "uid": "u"},
		"spec": {"size": 2, "image": "nginx:1.7.9", "ports": [{"port": 80, "targetPort": 8080}], "ingress": {"hosts": [{"host": "web.example.com"}]}}}`))
	kept, _ := Compact(o, 0)
	b.Run("compact", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = Compact(o, 0)
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, _ = Expand(kept)
		}
	})
	b.Run("copy", func(b *testing.B) { // that it takes the place of
		b.ReportAllocs()
		for b.Loop() {
			o.DeepCopy()
		}
	})
	deployment := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}}}}
	b.Run("footprint", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Large(deployment)
		}
	})
}

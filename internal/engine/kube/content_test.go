package kube

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

var (
	routes      = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}
	deployments = appsv1.SchemeGroupVersion.WithKind("Deployment")
	appServices = v1.GroupVersion.WithKind(v1.Kind)
)

// thing is an object of a kind, called web.
func thing(kind schema.GroupVersionKind) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(kind)
	o.SetName("web")
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: "AppService", Name: "web", UID: "u", Controller: ptr.To(true)}})
	return o
}

// metadata is what a cache of metadata holds of an object.
func metadata(object *unstructured.Unstructured) *metav1.PartialObjectMetadata {
	out := Metadata(object.GroupVersionKind())
	out.Name = object.GetName()
	return out
}

// kept is what the caches hold of an object.
func kept(object *unstructured.Unstructured) (any, error) {
	typed := Representation(object.GroupVersionKind())
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, err
	}
	if _, whole := typed.(*unstructured.Unstructured); !whole {
		typed.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as clients leave it
	}
	return Transform(map[schema.GroupVersionKind]limits.Bound{appServices: 0})(typed)
}

// Where a Go type took another form than JSON, the rendered object would differ from it for ever.
func TestContentIsTheSameInEveryForm(t *testing.T) {
	whole := thing(deployments)
	_ = unstructured.SetNestedField(whole.Object, int64(3), "spec", "replicas")
	_ = unstructured.SetNestedField(whole.Object, "25%", "spec", "strategy", "rollingUpdate", "maxSurge")
	_ = unstructured.SetNestedField(whole.Object, int64(1), "spec", "strategy", "rollingUpdate", "maxUnavailable")
	typed, err := kept(whole)
	require.NoError(t, err)
	for form, object := range map[string]client.Object{"a Go type": typed.(client.Object), "unstructured": whole} {
		content, found := Content(object)
		if !found {
			t.Fatalf("%s: there is none", form)
		}
		replicas, _, _ := unstructured.NestedInt64(content, "spec", "replicas")
		surge, _, _ := unstructured.NestedString(content, "spec", "strategy", "rollingUpdate", "maxSurge")
		unavailable, _, _ := unstructured.NestedInt64(content, "spec", "strategy", "rollingUpdate", "maxUnavailable")
		if replicas != 3 || surge != "25%" || unavailable != 1 || content["kind"] != "Deployment" || content["apiVersion"] != "apps/v1" {
			t.Errorf("%s: got %v", form, content)
		}
		if deployment := As[appsv1.Deployment](object); deployment == nil || *deployment.Spec.Replicas != 3 || deployment.Name != "web" {
			t.Errorf("%s: got %v", form, deployment)
		}
		if object.GetObjectKind().GroupVersionKind() != deployments {
			t.Errorf("%s: its kind is lost", form)
		}
	}
	if _, found := Content(metadata(whole)); found {
		t.Error("metadata is all there is")
	}
	for form, object := range map[string]client.Object{"nothing": nil, "another type": &corev1.Service{}, "metadata": metadata(whole)} {
		if got := As[appsv1.Deployment](object); got != nil {
			t.Errorf("%s: got %v", form, got)
		}
	}
}

// Workloads are read by their Go types, whatever they are in the caches.
func TestWhatMakesPodsHasAGoType(t *testing.T) {
	for _, want := range []client.Object{&appsv1.Deployment{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &appsv1.ReplicaSet{}, &batchv1.Job{}, &batchv1.CronJob{}} {
		kinds, _, err := scheme.Scheme.ObjectKinds(want)
		require.NoError(t, err)
		for form, object := range map[string]client.Object{"in the cache": Representation(kinds[0]), "unstructured": thing(kinds[0]), "by itself": want} {
			if got := Typed(object); reflect.TypeOf(got) != reflect.TypeOf(want) || form == "unstructured" && got.GetName() != object.GetName() {
				t.Errorf("%s %s: got a %T", kinds[0].Kind, form, got)
			}
		}
	}
	for form, object := range map[string]client.Object{"nothing": nil, "an outline": metadata(thing(deployments))} {
		if got := Typed(object); got != object {
			t.Errorf("%s: got %v", form, got)
		}
	}
	if route := thing(routes); Typed(route) != client.Object(route) {
		t.Error("a custom resource is not left as it is")
	}
}

func TestTransform(t *testing.T) {
	whole := thing(routes)
	secret := metadata(thing(SecretKind))
	typed := &corev1.Service{}
	for _, object := range []client.Object{whole, secret, typed} {
		before := object.GetObjectKind().GroupVersionKind()
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}})
		got, err := Transform(map[schema.GroupVersionKind]limits.Bound{appServices: 0})(object)
		require.NoError(t, err)
		kept := got.(client.Object)
		if kept.GetManagedFields() != nil {
			t.Errorf("%T: managed fields are kept", object)
		}
		if kind := kept.GetObjectKind().GroupVersionKind(); kind != before && kind != corev1.SchemeGroupVersion.WithKind("Service") {
			t.Errorf("%T: got the kind %s", object, kind)
		}
	}
	if typed.Kind != "Service" {
		t.Error("a Go type does not tell its kind")
	}
	if _, err := Transform(map[schema.GroupVersionKind]limits.Bound{appServices: 0})(&unregistered{}); err == nil {
		t.Error("want an error for a type that no scheme knows")
	}
}

// unregistered is a type that no scheme knows.
type unregistered struct{ corev1.Service }

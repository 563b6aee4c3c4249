package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

func deploymentOf(t *testing.T, uid, version string, generation int64) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	d.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	d.Name, d.UID, d.ResourceVersion, d.Generation = "web", types.UID(uid), version, generation
	d.Annotations = map[string]string{postrender.AnnotationStamp: "one"}
	return d
}

func TestVerifiedObjectsAreNotComparedAgain(t *testing.T) {
	key := func(name string) kube.Key {
		return kube.Key{GroupKind: appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(), Name: name}
	}
	set := func(objects ...client.Object) map[kube.Key]client.Object {
		out := map[kube.Key]client.Object{}
		for i, object := range objects {
			out[key(string(rune('a'+i)))] = object
		}
		return out
	}
	v := Verify("a", set(deploymentOf(t, "1", "7", 1), deploymentOf(t, "2", "8", 1)))
	for name, test := range map[string]struct {
		digest  string
		objects map[kube.Key]client.Object
		want    bool
	}{
		"the very same":        {"a", set(deploymentOf(t, "1", "7", 1), deploymentOf(t, "2", "8", 1)), true},
		"one with a status":    {"a", set(deploymentOf(t, "1", "7", 1), deploymentOf(t, "2", "9", 1)), true},
		"another release":      {"b", set(deploymentOf(t, "1", "7", 1), deploymentOf(t, "2", "8", 1)), false},
		"one in a new version": {"a", set(deploymentOf(t, "1", "7", 1), deploymentOf(t, "2", "9", 2)), false},
		"one less":             {"a", set(deploymentOf(t, "1", "7", 1)), false},
		"another one":          {"a", map[kube.Key]client.Object{key("a"): deploymentOf(t, "1", "7", 1), key("c"): deploymentOf(t, "2", "8", 1)}, false},
		"one more":             {"a", set(deploymentOf(t, "1", "7", 1), deploymentOf(t, "2", "8", 1), deploymentOf(t, "3", "9", 1)), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := v.Covers(test.digest, test.objects); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func TestTheContentThatIsKnownIsNotReadAgain(t *testing.T) {
	object := func(kind schema.GroupVersionKind, version string) client.Object {
		o := kube.Metadata(kind)
		o.Name, o.UID, o.ResourceVersion = "web", "1", version
		return o
	}
	configMaps, deployments := corev1.SchemeGroupVersion.WithKind("ConfigMap"), appsv1.SchemeGroupVersion.WithKind("Deployment")
	for name, test := range map[string]struct {
		verified Verified
		object   client.Object
		want     bool
	}{
		"a Secret":                          {Verify("a", there(object(kube.SecretKind, "7"))), object(kube.SecretKind, "7"), true},
		"a ConfigMap":                       {Verify("a", there(object(configMaps, "7"))), object(configMaps, "7"), true},
		"a Secret that others changed":      {Verify("a", there(object(kube.SecretKind, "7"))), object(kube.SecretKind, "8"), false},
		"a Deployment, which has a status":  {Verify("a", there(object(deployments, "7"))), object(deployments, "7"), false},
		"a Secret, before anything matched": {Verified{}, object(kube.SecretKind, "7"), false},
	} {
		if got := test.verified.Knows(test.object); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}

// A verified object is compared again if it is rendered otherwise or was edited, and only then.
func TestOnlyWhatMayDifferIsCompared(t *testing.T) {
	desired := &unstructured.Unstructured{}
	desired.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	desired.SetName("web")
	desired.SetAnnotations(map[string]string{postrender.AnnotationStamp: "one"})
	require.NoError(t, unstructured.SetNestedField(desired.Object, int64(2), "spec", "minReadySeconds"))
	live := deploymentOf(t, "1", "7", 1) // it differs, so that a comparison is seen
	v := Verify("a", there(live))
	rendered := []*unstructured.Unstructured{desired}
	if plan := v.Compare(rendered, there(live)); !plan.Empty() {
		t.Errorf("it was compared: %s", plan)
	}
	if plan := Compare(rendered, there(live)); plan.Empty() {
		t.Error("what was not verified is not compared")
	}
	edited := deploymentOf(t, "1", "8", 2)
	edited.Spec.Replicas = ptr.To(int32(3))
	if plan := v.Compare(rendered, there(edited)); plan.Empty() {
		t.Error("what was edited is not compared")
	}
	other := desired.DeepCopy()
	other.SetAnnotations(map[string]string{postrender.AnnotationStamp: "two"})
	if plan := v.Compare([]*unstructured.Unstructured{other}, there(live)); plan.Empty() {
		t.Error("what is rendered otherwise is not compared")
	}
}

// The caches hold no more than the outline of a large object. Content that was read past them must not stay in memory by another way.
func TestOfALargeObjectOnlyTheVersionIsRemembered(t *testing.T) {
	read := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"text": strings.Repeat("x", 64<<10)}}}
	read.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	read.SetName("web")
	read.SetUID("1")
	read.SetResourceVersion("7")
	read.SetGeneration(3)
	live := map[kube.Key]client.Object{kube.KeyOf(read): read}
	v := Verify("a", live)
	if kept := v.objects[kube.KeyOf(read)]; kube.Large(kept) || !kube.IsOutline(kept) {
		t.Error("all of it is kept")
	}
	if !v.Covers("a", live) {
		t.Error("the very same version is not known again")
	}
	changed := read.DeepCopy()
	changed.SetResourceVersion("8")
	if v.Covers("a", map[kube.Key]client.Object{kube.KeyOf(read): changed}) {
		t.Error("another version is taken for the same")
	}
	if live[kube.KeyOf(read)] != client.Object(read) {
		t.Error("what was read was changed")
	}
}

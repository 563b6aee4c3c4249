package kube

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	claims     = corev1.SchemeGroupVersion.WithKind(RetainedKind)
)

// Objects of others, and large ones, are not kept whole; the fields that tell their owner are.
func TestWhatTheCachesKeep(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	many := map[string]any{}
	var owners []metav1.OwnerReference
	for i := range 2000 {
		many[fmt.Sprintf("key-%d", i)] = "a value of some length"
		owners = append(owners, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprint("owner-", i), UID: "o"})
	}
	data := func(value any) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) { o.Object["data"] = value }
	}
	annotated := func(key, value string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{key: value, "note": "n"}) }
	}
	nobodys := func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) }
	cases := map[string]struct {
		kind   schema.GroupVersionKind
		change []func(*unstructured.Unstructured)
		want   string // whole, outline or identity
	}{
		"an object of a resource":                     {configMaps, nil, "whole"},
		"with much data":                              {configMaps, []func(*unstructured.Unstructured){data(map[string]any{"k": long})}, "outline"},
		"with many entries":                           {configMaps, []func(*unstructured.Unstructured){data(many)}, "outline"},
		"with a long annotation":                      {configMaps, []func(*unstructured.Unstructured){annotated("a", long)}, "outline"},
		"with a long annotation that we read":         {configMaps, []func(*unstructured.Unstructured){annotated(v1.AnnotationStamp, long)}, "outline"},
		"with many owners":                            {configMaps, []func(*unstructured.Unstructured){func(o *unstructured.Unstructured) { o.SetOwnerReferences(append(o.GetOwnerReferences(), owners...)) }}, "outline"},
		"of a kind without a Go type, with much data": {routes, []func(*unstructured.Unstructured){data(map[string]any{"k": []any{long}})}, "outline"},
		"nobody's":                                    {configMaps, []func(*unstructured.Unstructured){nobodys, data(map[string]any{"k": "v"})}, "identity"},
		"nobody's, with much data":                    {routes, []func(*unstructured.Unstructured){nobodys, data(map[string]any{"k": long})}, "identity"},
		"another kind's": {configMaps, []func(*unstructured.Unstructured){func(o *unstructured.Unstructured) {
			owner := metav1.GetControllerOf(o)
			owner.Kind = "Widget"
			o.SetOwnerReferences([]metav1.OwnerReference{*owner})
		}}, "identity"},
		"an object of a resource in another version": {configMaps, []func(*unstructured.Unstructured){func(o *unstructured.Unstructured) {
			owner := metav1.GetControllerOf(o)
			owner.APIVersion = appServices.Group + "/v0"
			o.SetOwnerReferences([]metav1.OwnerReference{*owner})
		}}, "whole"},
		"whose owner has a name that no object has":       {configMaps, []func(*unstructured.Unstructured){ownedBy(long, "u")}, "identity"},
		"whose owner has a UID that no object has":        {configMaps, []func(*unstructured.Unstructured){ownedBy("web", long)}, "identity"},
		"a claim that is kept":                            {claims, []func(*unstructured.Unstructured){nobodys, annotated(v1.AnnotationRetainedFor, "web")}, "whole"},
		"another kind that says it is kept":               {configMaps, []func(*unstructured.Unstructured){nobodys, annotated(v1.AnnotationRetainedFor, "web")}, "identity"},
		"what names its owner in a label, in a namespace": {routes, []func(*unstructured.Unstructured){nobodys, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{v1.LabelOwner: "u"}) }}, "identity"},
		"a resource, with much data":                      {appServices, []func(*unstructured.Unstructured){nobodys, data(map[string]any{"k": long})}, "whole"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			o := thing(test.kind)
			o.SetNamespace("demo")
			o.SetUID("uid")
			o.SetResourceVersion("7")
			for _, change := range test.change {
				change(o)
			}
			owner := metav1.GetControllerOf(o)
			in, err := kept(o)
			require.NoError(t, err)
			again, err := Transform(map[schema.GroupVersionKind]limits.Bound{appServices: 0})(in) // as a cache may do
			require.NoError(t, err)
			object := again.(client.Object)
			if got := form(object); got != test.want {
				t.Errorf("got the %s, want the %s: %.500v", got, test.want, object)
			}
			if object.GetName() != "web" || object.GetNamespace() != "demo" || object.GetUID() != "uid" || object.GetResourceVersion() != "7" || object.GetObjectKind().GroupVersionKind() != test.kind {
				t.Errorf("got %s %s/%s, UID %s, version %s", object.GetObjectKind().GroupVersionKind(), object.GetNamespace(), object.GetName(), object.GetUID(), object.GetResourceVersion())
			}
			if left := metav1.GetControllerOf(object); test.want == "outline" && (left == nil || *left != *owner && left.UID != owner.UID) {
				t.Errorf("got the controller %v, want %v", left, owner)
			}
			if test.want != "whole" && weight(fmt.Sprint(object)) > 4<<10 {
				t.Errorf("%d bytes are left of it", weight(fmt.Sprint(object)))
			}
			if _, whole := Content(object); test.want == "outline" && whole {
				t.Error("an outline is taken for the content")
			}
		})
	}
}

// ownedBy has a resource of a name and a UID control an object.
func ownedBy(name, uid string) func(*unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		owner := metav1.GetControllerOf(o)
		owner.Name, owner.UID = name, types.UID(uid)
		o.SetOwnerReferences([]metav1.OwnerReference{*owner})
	}
}

// form is what is left of an object: all of it, its outline or its identity.
func form(object client.Object) string {
	switch {
	case IsOutline(object):
		return "outline"
	case len(object.GetLabels())+len(object.GetAnnotations())+len(object.GetOwnerReferences()) == 0 && object.GetObjectKind().GroupVersionKind() != appServices:
		return "identity"
	}
	return "whole"
}

func TestAnOutlineIsNoObjectOfItsType(t *testing.T) {
	o := thing(configMaps)
	o.Object["data"] = map[string]any{"k": strings.Repeat("x", 100<<10)}
	in, err := kept(o)
	require.NoError(t, err)
	if object := in.(client.Object); As[corev1.ConfigMap](object) != nil {
		t.Error("the outline of a ConfigMap is taken for an empty one")
	}
}

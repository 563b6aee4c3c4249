package postrender

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestClaimTemplatesAreMarked(t *testing.T) {
	const set = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {volumeClaimTemplates: [
	{metadata: {name: data, labels: {a: b}}, spec: {resources: {requests: {storage: 1Gi}}}}, {metadata: {name: log}, spec: {}}]}}`
	marked := run(t, parse(t, set), Claims)
	templates := func(object *unstructured.Unstructured) []*unstructured.Unstructured {
		items, _, _ := unstructured.NestedSlice(object.Object, "spec", "volumeClaimTemplates")
		var list []*unstructured.Unstructured
		for _, item := range items {
			list = append(list, &unstructured.Unstructured{Object: item.(map[string]any)})
		}
		return list
	}
	got := templates(marked)
	if labels := got[0].GetLabels(); !reflect.DeepEqual(labels, map[string]string{"a": "b", "app.example.com/managed": "true", "app.example.com/owner-uid": "6a3c"}) {
		t.Errorf("got labels %v", labels)
	}
	for _, template := range got {
		annotations := template.GetAnnotations()
		if annotations["app.example.com/retained-for"] == "" || len(annotations[AnnotationStamp]) != 32 {
			t.Errorf("%s: got annotations %v", template.GetName(), annotations)
		}
	}
	if got[0].GetAnnotations()[AnnotationStamp] == got[1].GetAnnotations()[AnnotationStamp] {
		t.Error("two templates have one stamp")
	}
	if again := run(t, parse(t, set), Claims); !reflect.DeepEqual(again.Object, marked.Object) {
		t.Error("the same template is marked otherwise")
	}
	if before := parse(t, deployment); !reflect.DeepEqual(run(t, before, Claims).Object, before.Object) {
		t.Error("an object without claim templates is changed")
	}
}

package model

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

var keyFilled = kube.Key{GroupKind: kube.SecretKind.GroupKind(), Name: name}

// generated is a Secret with values that the operator makes, and a ConfigMap beside it.
var generated = &shape{
	kind:  appService,
	chart: chartOf("generated", filledTemplate),
	specs: []map[string]any{
		{"image": "one", "size": int64(1)},
		{"image": "two", "size": int64(2)},
	},
	renders: []schema.GroupVersionKind{kube.SecretKind, configMap},
	changes: generatedChanges(),
	writes:  4,
	allowed: makesOnce,
	halts:   isLost,
	ended:   isFilled,
}

const filledTemplate = `
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}
  annotations: {app.example.com/generate: {{ ternary "one=16,two=16" "one=16" (gt (int .Values.size) 1) }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-settings}
data: {image: {{ .Values.image | quote }}}
`

// generatedChanges are what others do to a Secret that is filled.
func generatedChanges() []act {
	edits := []struct {
		verb string
		edit func(*unstructured.Unstructured)
	}{
		{"deletes a key of", func(o *unstructured.Unstructured) { unstructured.RemoveNestedField(o.Object, "data", "one") }},
		{"takes off the note of", func(o *unstructured.Unstructured) {
			annotations := o.GetAnnotations()
			delete(annotations, v1.AnnotationGenerated)
			delete(annotations, v1.AnnotationGeneratedVersion)
			o.SetAnnotations(annotations)
		}},
		{"takes off the owner of", func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) }},
		{"takes off the labels of", func(o *unstructured.Unstructured) { o.SetLabels(nil) }},
		{"takes off the stamp of", func(o *unstructured.Unstructured) { o.SetAnnotations(nil) }},
	}
	var list []act
	for _, e := range edits {
		list = append(list, changeOf("somebody "+e.verb+" the Secret", keyFilled, func(w *world) { w.server.edit(keyFilled, e.edit) }))
	}
	return append(list,
		changeOf("somebody deletes the Secret", keyFilled, func(w *world) { w.server.remove(keyFilled) }),
		changeOf("the user gives up the values", resourceKey, func(w *world) {
			w.server.edit(resourceKey, func(o *unstructured.Unstructured) {
				o.SetAnnotations(map[string]string{v1.AnnotationGenerateAgain: name})
			})
		}),
		madeAgain(resourceKey), statusOverwritten(resourceKey), recordDeleted())
}

// wantsKeys returns the keys that the annotation of a Secret names.
func wantsKeys(secret *unstructured.Unstructured) (keys []string) {
	for entry := range strings.SplitSeq(secret.GetAnnotations()[v1.AnnotationGenerate], ",") {
		if key, _, isValue := strings.Cut(entry, "="); isValue {
			keys = append(keys, key)
		}
	}
	return keys
}

// makesOnce returns an error if the operator changes a value, creates a Secret without its values, or makes those again that a release has had and
// that nobody gave up.
func makesOnce(w *world, key kube.Key, before *unstructured.Unstructured) error {
	now := w.server.objects[key]
	if key != keyFilled || now == nil {
		return nil
	}
	data, _, _ := unstructured.NestedStringMap(now.Object, "data")
	if before == nil {
		if slices.ContainsFunc(wantsKeys(now), func(key string) bool { return data[key] == "" }) {
			return fmt.Errorf("it is created without its values: %v", data)
		}
		if w.isReleased() && !givesUp(w.seen()) {
			return fmt.Errorf("its values are made again in silence")
		}
		return nil
	}
	was, _, _ := unstructured.NestedStringMap(before.Object, "data")
	for key, value := range was {
		if data[key] != value {
			return fmt.Errorf("data.%s was %q and becomes %q", key, value, data[key])
		}
	}
	return nil
}

// isReleased reports whether the resource has a release record.
func (w *world) isReleased() bool {
	return slices.ContainsFunc(sorted(w.server.objects), func(key kube.Key) bool {
		return isRecord(key) && ownerOf(w.server.objects[key]) == w.resource().GetUID()
	})
}

// givesUp reports whether a resource requests other values than those that are lost.
func givesUp(resource *unstructured.Unstructured) bool {
	return resource != nil && resource.GetAnnotations()[v1.AnnotationGenerateAgain] == name
}

// isLost returns the reason for which a release does not continue: values are lost that nobody gave up.
func isLost(w *world) string {
	if w.server.objects[keyFilled] == nil && w.isReleased() && !givesUp(w.resource()) {
		return v1.ReasonGeneratedSecretLost
	}
	return ""
}

// isFilled returns an error unless the Secret has all its keys.
func isFilled(w *world) error {
	secret := w.server.objects[keyFilled]
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	for _, key := range wantsKeys(secret) {
		if data[key] == "" {
			return fmt.Errorf("data.%s is not there", key)
		}
	}
	return nil
}

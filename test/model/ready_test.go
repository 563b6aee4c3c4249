package model

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// madeKey is an object of one resource.
type madeKey struct {
	owner types.UID
	kube.Key
}

// note remembers the objects as the operator has written them, whatever other clients change afterwards.
func (w *world) note(verb string, key kube.Key) {
	object := w.server.objects[key]
	if verb != "apply" || key.Kind != configMap.Kind || object == nil {
		return
	}
	data, _, _ := unstructured.NestedStringMap(object.Object, "data")
	w.made[madeKey{ownerOf(object), key}] = maps.Clone(data)
}

// untrulyReady returns how a status claims that the present generation is ready although the operator has not written the objects of that
// generation's spec. It checks every status that is written, whatever has failed before.
func (w *world) untrulyReady() error {
	resource := w.resource()
	ready := conditionOf(resource, v1.ConditionReady)
	observed, _, _ := unstructured.NestedInt64(resource.Object, "status", "observedGeneration")
	if ready["status"] != "True" || observed != resource.GetGeneration() {
		return nil
	}
	if ready["observedGeneration"] != observed {
		return fmt.Errorf("Ready is True of generation %v, in a status of generation %d", ready["observedGeneration"], observed)
	}
	keys := wanted(resource)
	if w.shape != pair {
		return nil // made of other objects
	}
	if keys == nil {
		return fmt.Errorf("Ready is True of generation %d, which is refused", observed)
	}
	image, _, _ := unstructured.NestedString(resource.Object, "spec", "image")
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	for _, key := range keys {
		made := w.made[madeKey{resource.GetUID(), key}]
		if key == keyA && made["image"] != image || key == keyB && made["size"] != fmt.Sprint(size) {
			return fmt.Errorf("Ready is True of generation %d with image %s and size %d, and %s was made of %v", observed, image, size, key, made)
		}
	}
	return nil
}

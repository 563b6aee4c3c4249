package kube

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Representation is what objects of a kind are in the caches: Secrets are metadata, built-in kinds have their Go type, which
// takes a fifth of the memory of anything else, and custom resources are unstructured.
func Representation(kind schema.GroupVersionKind) client.Object {
	if kind == SecretKind {
		return Metadata(kind)
	}
	if typed, err := scheme.Scheme.New(kind); err == nil {
		if object, ok := typed.(client.Object); ok {
			object.GetObjectKind().SetGroupVersionKind(kind)
			return object
		}
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// ListOf makes an empty list of objects as they are in the caches.
func ListOf(kind schema.GroupVersionKind) client.ObjectList {
	listKind := kind.GroupVersion().WithKind(kind.Kind + "List")
	if kind == SecretKind {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(listKind)
		return list
	}
	if typed, err := scheme.Scheme.New(listKind); err == nil {
		if list, ok := typed.(client.ObjectList); ok {
			list.GetObjectKind().SetGroupVersionKind(listKind)
			return list
		}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(listKind)
	return list
}

// Transform is what the caches keep of an object: no managed fields but Intruders, and its kind, which clients leave out of Go types.
func Transform(object any) (any, error) {
	kept, ok := object.(client.Object)
	if !ok {
		return object, nil
	}
	if _, metadata := object.(*metav1.PartialObjectMetadata); metadata || !kept.GetObjectKind().GroupVersionKind().Empty() {
		stripManagedFields(kept)
		return kept, nil
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(kept)
	if err != nil {
		return nil, fmt.Errorf("cannot tell the kind of %T: %w", kept, err)
	}
	kept.GetObjectKind().SetGroupVersionKind(kinds[0])
	stripManagedFields(kept)
	return kept, nil
}

// stripManagedFields drops all managed fields but those by which others own parts of a pod template.
func stripManagedFields(object client.Object) { object.SetManagedFields(Intruders(object)) }

// Content gives all that an object says, as JSON has it; false where only its metadata is known. It may be shared: nobody
// may change it.
func Content(object client.Object) (map[string]any, bool) {
	switch object := object.(type) {
	case *unstructured.Unstructured:
		return object.Object, true
	case *metav1.PartialObjectMetadata:
		return nil, false
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	return content, err == nil
}

// As gives an object as its Go type, nil where it is nil or another kind of object. It may be shared: nobody may change it.
func As[T any](object client.Object) *T {
	if typed, ok := any(object).(*T); ok {
		return typed
	}
	whole, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(whole.Object, typed); err != nil {
		return nil // the API server serves no such object
	}
	return typed
}

package kube

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// Representation returns the form of a kind's objects in the caches: Secrets are metadata, built-in kinds have their Go
// type, which takes a fifth of the memory of anything else, and custom resources are unstructured.
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
	return Object(kind)
}

// Transform returns the function that caches apply to objects before storing them, for the served kinds with the bounds
// of their resources. These become compact; of all others, those that may belong to one of them are stored up to a size
// limit, and the rest as their identity: anyone may create an object that the cache selects, of any size.
func Transform(bounds map[schema.GroupVersionKind]limits.Bound) toolscache.TransformFunc {
	served := slices.Collect(maps.Keys(bounds))
	return func(in any) (any, error) {
		object, ok := in.(client.Object)
		if !ok {
			return in, nil
		}
		if err := setKind(object); err != nil {
			return nil, err
		}
		bound, ofUser := bounds[object.GetObjectKind().GroupVersionKind()]
		if resource, untyped := object.(*unstructured.Unstructured); untyped && ofUser {
			return Compact(resource, bound)
		}
		object.SetManagedFields(nil)
		switch {
		case ofUser:
			return object, nil
		case !mayBeOurs(object, served):
			return identity(object), nil
		case isOldRecord(object):
			return oldRecord(object), nil
		case Large(object):
			return outline(object), nil
		}
		return object, nil
	}
}

// setKind sets the kind of a Go type, which clients leave out.
func setKind(object client.Object) error {
	if _, metadata := object.(*metav1.PartialObjectMetadata); metadata ||
		!object.GetObjectKind().GroupVersionKind().Empty() {
		return nil
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return fmt.Errorf("cannot find out the kind of %T: %w", object, err)
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	return nil
}

// Content returns the whole content of an object, as in JSON; false if only its outline is known. It may be shared: it
// must not be changed.
func Content(object client.Object) (map[string]any, bool) {
	if IsOutline(object) {
		return nil, false
	}
	if untyped, ok := object.(*unstructured.Unstructured); ok {
		return untyped.Object, true
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	return content, err == nil
}

// Typed returns an object of a built-in kind as its Go type, as informers do: the result of a write may be
// unstructured. All others, including outlines, are returned unchanged.
func Typed(object client.Object) client.Object {
	untyped, ok := object.(*unstructured.Unstructured)
	if !ok || IsOutline(object) {
		return object // nil, too
	}
	typed := Representation(untyped.GroupVersionKind())
	if _, custom := typed.(*unstructured.Unstructured); custom ||
		runtime.DefaultUnstructuredConverter.FromUnstructured(untyped.Object, typed) != nil {
		return object
	}
	return typed
}

// As returns an object as its Go type, nil if it is nil, an outline or another kind of object. It may be shared: it
// must not be changed.
func As[T any](object client.Object) *T {
	if object == nil || IsOutline(object) {
		return nil
	}
	if typed, ok := any(object).(*T); ok {
		return typed
	}
	untyped, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(untyped.Object, typed); err != nil {
		return nil // the API server serves no such object
	}
	return typed
}

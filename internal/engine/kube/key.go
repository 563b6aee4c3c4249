// Package kube identifies objects and reads them in whatever form the caches hold them: Go types of built-in kinds,
// metadata of Secrets, unstructured content of anything else.
package kube

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Key identifies an object among those of one resource: all are in its namespace.
type Key struct {
	schema.GroupKind
	Name string
}

// KeyOf returns the key of an object.
func KeyOf(object client.Object) Key {
	return Key{GroupKind: object.GetObjectKind().GroupVersionKind().GroupKind(), Name: object.GetName()}
}

// ByKey returns objects by their keys.
func ByKey(objects []*unstructured.Unstructured) map[Key]*unstructured.Unstructured {
	found := make(map[Key]*unstructured.Unstructured, len(objects))
	for _, object := range objects {
		found[KeyOf(object)] = object
	}
	return found
}

// String returns the kind and the name, for example "Deployment web".
func (k Key) String() string { return k.Kind + " " + k.Name }

// Compare orders keys by kind, then name.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Kind, other.Kind), cmp.Compare(k.Group, other.Group), cmp.Compare(k.Name, other.Name))
}

// ClusterScoped returns a function that reports whether a cluster serves a kind whose objects are in no namespace.
func ClusterScoped(mapper meta.RESTMapper) func(schema.GroupVersionKind) bool {
	return func(kind schema.GroupVersionKind) bool {
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		return err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot
	}
}

// IsAppService reports whether a kind is AppService, in any version: for other kinds, spec belongs to the chart.
func IsAppService(kind schema.GroupVersionKind) bool {
	return kind.GroupKind() == schema.GroupKind{Group: v1.GroupVersion.Group, Kind: v1.Kind}
}

// SecretKind is the kind that is watched as metadata only.
var SecretKind = corev1.SchemeGroupVersion.WithKind("Secret")

// Metadata returns an empty object of a kind, to read only the metadata into.
func Metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	return object
}

// Object returns an empty object of a kind.
func Object(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// List returns an empty list of objects of a kind.
func List(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return list
}

// Older reports whether a is an older version than b. Versions that cannot be compared count as not older: then the
// informer is believed.
func Older(a, b client.Object) bool { return Newer(b.GetResourceVersion(), a.GetResourceVersion()) }

// Newer reports whether a is a newer resource version than b.
func Newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}

// LabeledOwner returns the UID of the resource that a cluster-scoped object was rendered for; empty for any other
// object. In a namespace, the label is ignored: there are owner references, and the right to label an object must not
// be enough to have it deleted.
func LabeledOwner(object client.Object) string {
	if object.GetNamespace() != "" {
		return ""
	}
	return object.GetLabels()[v1.LabelOwner]
}

// RetainedFor returns the name of the resource that a claim, or a Secret, belongs to without a controller reference: a
// retained one, or a claim that was created for a pod of a workload with claim templates. It is empty for any other
// object, and for the claim of a pod that was scaled away.
func RetainedFor(object client.Object) string {
	kind := object.GetObjectKind().GroupVersionKind()
	if kind.Kind != RetainedKind && kind != SecretKind {
		return ""
	}
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil &&
		TraitsOf(schema.FromAPIVersionAndKind(controller.APIVersion, controller.Kind).GroupKind()).Claims == nil {
		return ""
	}
	return object.GetAnnotations()[v1.AnnotationRetainedFor]
}

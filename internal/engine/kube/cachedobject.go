package kube

import (
	"reflect"
	"runtime/metrics"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// The memory in bytes that the caches spend on an object: anyone who may write objects may make them large, and as many
// as he likes. Caching them whole saves requests and decides nothing, so less is cached whole while memory is short.
const (
	bound       = 32 << 10
	scarceBound = 8 << 10
)

// outlined is the annotation of an outline. The API server accepts no annotation with such a name.
const outlined = "(outline)"

// Labels and annotations that outlines retain: those that identify the owner, the applied version and when it is ready,
// and those by which objects have rules of their own.
var (
	outlineLabels = []string{v1.LabelManaged, v1.LabelOwner, v1.LabelDigest, v1.LabelChartVersion, "owner", "name",
		"status", "version"}
	outlineAnnotations = []string{
		v1.AnnotationStage, v1.AnnotationRerun, v1.AnnotationKeepsKind,
		v1.AnnotationStamp, v1.AnnotationRetainedFor, v1.AnnotationOwnerKind, v1.AnnotationReadyWhen,
		v1.AnnotationReadyMessage, v1.AnnotationGenerated, v1.AnnotationGeneratedVersion, v1.AnnotationChecksumKey,
		"meta.helm.sh/release-name", "meta.helm.sh/release-namespace",
	}
)

// IsOutline reports whether an object is the outline of a larger one.
func IsOutline(object client.Object) bool {
	switch object := object.(type) {
	case *metav1.PartialObjectMetadata:
		return true
	case *unstructured.Unstructured: // without a copy of all annotations
		_, marked, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", "annotations", outlined)
		return marked
	}
	_, marked := object.GetAnnotations()[outlined]
	return marked
}

// Large reports whether the caches currently hold only the outline of an object.
func Large(object client.Object) bool {
	size := sizeOf(object)
	return size > bound || size > scarceBound &&
		!TraitsOf(object.GetObjectKind().GroupVersionKind().GroupKind()).ReadOfOthers && memoryIsShort()
}

func sizeOf(object client.Object) int {
	if untyped, is := object.(*unstructured.Unstructured); is {
		return weight(untyped.Object)
	}
	return footprint(reflect.ValueOf(object))
}

// memoryIsShort reports whether more than half of the process's memory limit is in use. The garbage collector needs the
// rest: close to the limit it does little else.
func memoryIsShort() bool {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() > samples[1].Value.Uint64()/2
}

// Remembered returns the part of an object that may be remembered: itself, or the outline if it was read past the
// caches and is larger than they allow.
func Remembered(object client.Object) client.Object {
	if untyped, read := object.(*unstructured.Unstructured); read && !IsOutline(untyped) && Large(untyped) {
		return outline(untyped)
	}
	return object
}

// footprint estimates the memory of a Go value in bytes, without its outermost struct. The size of requests is not a
// measure: {} takes two bytes of one and may become a struct of fifty.
func footprint(value reflect.Value) int {
	total := 0
	switch value.Kind() {
	case reflect.String:
		total += value.Len()
	case reflect.Pointer:
		if !value.IsNil() {
			total += int(value.Type().Elem().Size()) + footprint(value.Elem())
		}
	case reflect.Struct:
		for i := range value.NumField() {
			total += footprint(value.Field(i))
		}
	case reflect.Slice:
		total += value.Len() * int(value.Type().Elem().Size())
		if plain(value.Type().Elem().Kind()) {
			break
		}
		for i := range value.Len() {
			total += footprint(value.Index(i))
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			total += int(value.Type().Key().Size()+value.Type().Elem().Size()) + footprint(entries.Key()) +
				footprint(entries.Value())
		}
	}
	return total
}

// plain reports whether values of a kind contain nothing outside of the list that holds them.
func plain(kind reflect.Kind) bool { return kind >= reflect.Bool && kind <= reflect.Complex128 }

// weight estimates the size of a value as JSON in bytes.
func weight(value any) int {
	total := 8
	switch value := value.(type) {
	case string:
		total += len(value)
	case map[string]any:
		for key, entry := range value {
			total += len(key) + weight(entry)
		}
	case []any:
		for _, item := range value {
			total += weight(item)
		}
	}
	return total
}

// longestUID is the maximum length of a UID from an API server.
const longestUID = 64

// mayBeOurs reports whether an object may belong to a resource of one of the kinds, judging by the object.
func mayBeOurs(object client.Object, kinds []schema.GroupVersionKind) bool {
	if RetainedFor(object) != "" || LabeledOwner(object) != "" {
		return true
	}
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && mayExist(controller) &&
		slices.ContainsFunc(kinds, func(kind schema.GroupVersionKind) bool { return OfKind(controller, kind.GroupKind()) })
}

// OfKind reports whether a reference names an object of a kind, in whatever version: an object keeps the reference that
// was written last, and the kind may have got another version since.
func OfKind(reference *metav1.OwnerReference, kind schema.GroupKind) bool {
	return schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind).GroupKind() == kind
}

// mayExist reports whether an object with the name and the UID of a reference may exist. The API server accepts
// references of any length.
func mayExist(reference *metav1.OwnerReference) bool {
	return len(reference.Name) <= validation.DNS1123SubdomainMaxLength && len(reference.UID) <= longestUID
}

// identity returns the part of an object without an owner that the caches hold: that it exists, and its name.
func identity(object client.Object) client.Object {
	var kept client.Object = &unstructured.Unstructured{Object: map[string]any{}}
	if _, untyped := object.(*unstructured.Unstructured); !untyped {
		kept, _ = reflect.New(reflect.TypeOf(object).Elem()).Interface().(client.Object)
	}
	kept.GetObjectKind().SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	kept.SetNamespace(object.GetNamespace())
	kept.SetName(object.GetName())
	kept.SetUID(object.GetUID())
	kept.SetResourceVersion(object.GetResourceVersion())
	return kept
}

// outline returns the part of a large object that the caches hold: its identity, its owner, and the version of it that
// was applied.
func outline(object client.Object) client.Object {
	kept := identity(object)
	kept.SetDeletionTimestamp(object.GetDeletionTimestamp())
	kept.SetLabels(some(object.GetLabels(), outlineLabels))
	annotations := some(object.GetAnnotations(), outlineAnnotations)
	annotations[outlined] = ""
	kept.SetAnnotations(annotations)
	if controller := metav1.GetControllerOf(object); controller != nil && mayExist(controller) {
		kept.SetOwnerReferences([]metav1.OwnerReference{*controller})
	}
	return kept
}

// some returns the entries with the given names, without those that are larger than any of ours.
func some(entries map[string]string, names []string) map[string]string {
	kept := map[string]string{}
	for _, name := range names {
		if value, found := entries[name]; found && len(value) <= 1<<10 {
			kept[name] = value
		}
	}
	return kept
}

package postrender

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The metadata by which Helm knows the objects of a release. Helm adds it only to objects that it creates itself.
const (
	helmManagedBy        = "app.kubernetes.io/managed-by"
	helmReleaseName      = "meta.helm.sh/release-name"
	helmReleaseNamespace = "meta.helm.sh/release-namespace"
)

// Ownership puts every object into the namespace of its owner, makes the owner its controller, so that the garbage
// collector deletes it with the owner, and adds Helm's ownership metadata.
func Ownership(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	namespace := in.Owner.GetNamespace()
	controller := *metav1.NewControllerRef(in.Owner, in.Owner.GroupVersionKind())
	for _, object := range objects {
		if ns := object.GetNamespace(); ns != "" && ns != namespace {
			return fmt.Errorf("%s %q is rendered into namespace %q: the chart may only render into the namespace of the resource, leave metadata.namespace out",
				object.GetKind(), object.GetName(), ns)
		}
		for _, field := range []string{"labels", "annotations"} {
			if _, _, err := unstructured.NestedStringMap(object.Object, "metadata", field); err != nil {
				return fmt.Errorf("%s %q is not valid: %w", object.GetKind(), object.GetName(), err)
			}
		}
		object.SetNamespace(namespace)
		object.SetOwnerReferences([]metav1.OwnerReference{controller})
		object.SetLabels(mergeInto(object.GetLabels(), map[string]string{helmManagedBy: "Helm"}))
		object.SetAnnotations(mergeInto(object.GetAnnotations(), map[string]string{
			helmReleaseName:      in.Owner.GetName(),
			helmReleaseNamespace: namespace,
		}))
	}
	return nil
}

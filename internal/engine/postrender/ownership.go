package postrender

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/example/appservice-operator/api/v1"
)

// The metadata by which Helm identifies the objects of a release. Helm adds it only to objects that it creates itself.
const (
	helmManagedBy        = "app.kubernetes.io/managed-by"
	helmReleaseName      = "meta.helm.sh/release-name"
	helmReleaseNamespace = "meta.helm.sh/release-namespace"
	helmResourcePolicy   = "helm.sh/resource-policy"
)

// Ownership sets the namespace of every object to its owner's, makes the owner its controller, so that the garbage
// collector deletes it with the owner, and adds Helm's ownership metadata. An object that the chart retains
// (helm.sh/resource-policy: keep) gets the owner's name as an annotation instead, by which a new owner of the name can
// adopt it, and its UID as a label; so does a cluster-scoped object: a finalizer of the owner ensures that it is
// deleted.
func Ownership(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	namespace := in.Owner.GetNamespace()
	controller := *metav1.NewControllerRef(in.Owner, in.Owner.GroupVersionKind())
	for _, object := range objects {
		if ns := object.GetNamespace(); ns != "" && ns != namespace {
			return &ObjectError{object, fmt.Errorf("is rendered into namespace %q: the chart may only render into the namespace of the resource, leave metadata.namespace out", ns)}
		}
		for _, field := range []string{"labels", "annotations"} {
			if _, _, err := unstructured.NestedStringMap(object.Object, "metadata", field); err != nil {
				return notValid(object, err)
			}
		}
		object.SetLabels(labels.Merge(object.GetLabels(), map[string]string{helmManagedBy: "Helm"}))
		object.SetAnnotations(labels.Merge(object.GetAnnotations(), map[string]string{
			helmReleaseName:      in.Owner.GetName(),
			helmReleaseNamespace: namespace,
		}))
		switch {
		case in.ClusterScoped != nil && in.ClusterScoped(object.GroupVersionKind()):
			object.SetNamespace("")
			object.SetLabels(labels.Merge(object.GetLabels(), map[string]string{v1.LabelOwner: string(in.Owner.GetUID())}))
			object.SetAnnotations(labels.Merge(object.GetAnnotations(),
				map[string]string{v1.AnnotationOwnerKind: in.Owner.GetKind()}))
		case isRetained(object):
			object.SetNamespace(namespace)
			object.SetLabels(labels.Merge(object.GetLabels(), map[string]string{v1.LabelOwner: string(in.Owner.GetUID())}))
			object.SetAnnotations(labels.Merge(object.GetAnnotations(),
				map[string]string{v1.AnnotationRetainedFor: in.Owner.GetName()}))
		default:
			object.SetNamespace(namespace)
			object.SetOwnerReferences([]metav1.OwnerReference{controller})
		}
	}
	return nil
}

// isRetained reports whether an object must outlive its release, by Helm's rules.
func isRetained(object *unstructured.Unstructured) bool {
	return strings.ToLower(strings.TrimSpace(object.GetAnnotations()[helmResourcePolicy])) == "keep"
}

package kube

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ChangedBy returns which field manager changed the spec of a resource last, and when; empty if its managed fields do
// not show that. Their times are in seconds, so that there may be several managers, as in "argocd, kubectl". A scale
// subresource changes the spec, too.
func ChangedBy(resource *unstructured.Unstructured) (manager string, at time.Time) {
	entries, _, _ := unstructured.NestedFieldNoCopy(resource.Object, "metadata", "managedFields")
	list, _ := entries.([]any)
	for _, item := range list {
		entry, _ := item.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		if _, ofSpec := fields["f:spec"]; !ofSpec || entry["subresource"] == "status" {
			continue
		}
		name, _ := entry["manager"].(string)
		text, _ := entry["time"].(string)
		changed, err := time.Parse(time.RFC3339, text)
		switch {
		case err != nil || changed.Before(at):
		case manager != "" && changed.Equal(at):
			manager += ", " + name
		default:
			manager, at = name, changed
		}
	}
	return manager, at
}

// OtherWriter returns which field manager besides the operator wrote an object last, apart from its status; empty if
// its managed fields do not show that.
func OtherWriter(object client.Object) string {
	var last metav1.ManagedFieldsEntry
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != FieldManager && entry.Subresource != "status" && entry.Time != nil &&
			!entry.Time.Before(last.Time) {
			last = entry
		}
	}
	return last.Manager
}

// written returns metadata without what clients add for themselves, which are managed fields and kubectl's annotation
// with the whole resource, and who changed the spec last, as a short text.
func written(resource *unstructured.Unstructured) (metadata any, author string) {
	all, _ := resource.Object["metadata"].(map[string]any)
	annotations, _ := all["annotations"].(map[string]any)
	if annotations[corev1.LastAppliedConfigAnnotation] != nil {
		all, annotations = maps.Clone(all), maps.Clone(annotations)
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		all["annotations"] = annotations
	}
	if _, found := all["managedFields"]; !found {
		return all, ""
	}
	if manager, at := ChangedBy(resource); manager != "" {
		author = at.Format(time.RFC3339) + " " + manager
	}
	kept := maps.Clone(all)
	delete(kept, "managedFields")
	return kept, author
}

// withAuthor returns metadata with managed fields that contain only who changed the spec last.
func withAuthor(metadata any, author string) any {
	at, manager, found := strings.Cut(author, " ")
	all, _ := metadata.(map[string]any)
	if !found || all == nil {
		return metadata
	}
	whole := maps.Clone(all)
	whole["managedFields"] = []any{map[string]any{"manager": manager, "time": at,
		"fieldsV1": map[string]any{"f:spec": map[string]any{}}}}
	return whole
}

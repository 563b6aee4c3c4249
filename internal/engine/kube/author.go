package kube

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// FieldManager owns the fields that the operator writes, whatever its binary is called.
const FieldManager = "appservice-operator"

// ChangedBy returns which field manager changed the spec of a resource last, and when; empty if its managed fields do
// not show that. Their times are in seconds, so that there may be several managers, as in "argocd, kubectl". A scale
// subresource changes the spec, too, and leaves no time: "argocd; kubectl, through scale" is one of these two.
func ChangedBy(resource *unstructured.Unstructured) (manager string, at time.Time) {
	timeless := ""
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
		subresource, _ := entry["subresource"].(string)
		name = through(name, subresource)
		switch {
		case err != nil && subresource != "":
			timeless = name
		case err != nil || changed.Before(at):
		case manager != "" && changed.Equal(at):
			manager += ", " + name
		default:
			manager, at = name, changed
		}
	}
	if timeless != "" {
		return strings.TrimPrefix(manager+"; "+timeless, "; "), at
	}
	return manager, at
}

// OtherWriter returns which field manager besides the operator wrote a field of an object, such as spec.replicas, or
// else wrote the object last, apart from its status; empty if its managed fields do not show that. A write through a
// subresource such as scale leaves no time, and shows only whose a field is.
func OtherWriter(object client.Object, field string) string {
	var last, owner metav1.ManagedFieldsEntry
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == FieldManager || entry.Subresource == "status" {
			continue
		}
		owning := owns(entry, field)
		switch {
		case entry.Time == nil && entry.Subresource != "" && owning:
			return through(entry.Manager, entry.Subresource)
		case entry.Time == nil:
		case owning && !entry.Time.Before(owner.Time):
			owner = entry
		case !entry.Time.Before(last.Time):
			last = entry
		}
	}
	if owner.Manager != "" {
		last = owner
	}
	return through(last.Manager, last.Subresource)
}

func through(manager, subresource string) string {
	if subresource == "" {
		return manager
	}
	return manager + ", through " + subresource
}

// owns reports whether the fields of an entry include one.
func owns(entry metav1.ManagedFieldsEntry, field string) bool {
	var path fieldpath.Path
	for name := range strings.SplitSeq(field, ".") {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return fieldsOf(entry).Has(path)
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
	out := maps.Clone(all)
	out["managedFields"] = []any{map[string]any{"manager": manager, "time": at,
		"fieldsV1": map[string]any{"f:spec": map[string]any{}}}}
	return out
}

// fieldsOf decodes an entry; an entry that cannot be decoded counts as empty, as for the API server.
func fieldsOf(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := fieldpath.NewSet()
	if entry.FieldsV1 == nil || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
		return fieldpath.NewSet()
	}
	return set
}

package kube

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Evict returns managed fields of an object in which the operator owns the given fields, and all that others have in
// the part that belongs to it alone (Traits.Exclusive): its next apply removes what it does not have.
func Evict(object client.Object, fields *fieldpath.Set) []metav1.ManagedFieldsEntry {
	ours := metav1.ManagedFieldsEntry{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: object.GetObjectKind().GroupVersionKind().GroupVersion().String(), FieldsType: "FieldsV1"}
	var list []metav1.ManagedFieldsEntry
	for _, entry := range object.GetManagedFields() {
		switch {
		case own(entry):
			ours, fields = entry, fields.Union(fieldsOf(entry))
			continue
		case entry.Subresource == "":
			theirs := fieldsOf(entry)
			entry.FieldsV1 = encode(theirs.Difference(addedTo(object, theirs)))
		}
		if !fieldsOf(entry).Empty() {
			list = append(list, entry)
		}
	}
	ours.FieldsV1 = encode(fields)
	return append(list, ours)
}

// own reports whether an entry belongs to the operator's applies.
func own(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == ""
}

// ownFields returns the fields that the operator applied, according to managed fields.
func ownFields(entries []metav1.ManagedFieldsEntry) *fieldpath.Set {
	if at := slices.IndexFunc(entries, own); at >= 0 {
		return fieldsOf(entries[at])
	}
	return fieldpath.NewSet()
}

// addedTo returns the fields in the part that belongs to the operator alone, except for requests to restart.
func addedTo(object client.Object, fields *fieldpath.Set) *fieldpath.Set {
	added := fieldpath.NewSet()
	part := TraitsOf(object.GetObjectKind().GroupVersionKind().GroupKind()).Exclusive
	if part == nil {
		return added
	}
	content, _ := Content(object)
	annotations, _, _ := unstructured.NestedStringMap(content, append(slices.Clone(part), "metadata", "annotations")...)
	fields.Iterate(func(path fieldpath.Path) {
		if len(path) <= len(part) || !begins(path, part) {
			return
		}
		rest := path[len(part):]
		if begins(rest, []string{"metadata", "annotations"}) &&
			(len(rest) == 2 || IsRestart(*rest[2].FieldName, annotations[*rest[2].FieldName])) {
			return
		}
		added.Insert(path.Copy())
	})
	return added
}

func begins(path fieldpath.Path, with []string) bool {
	if len(path) < len(with) {
		return false
	}
	for i, name := range with {
		if path[i].FieldName == nil || *path[i].FieldName != name {
			return false
		}
	}
	return true
}

func encode(set *fieldpath.Set) *metav1.FieldsV1 {
	data, err := set.ToJSON()
	if err != nil {
		return metav1.NewFieldsV1("{}") // only for a path that no API server produces
	}
	return metav1.NewFieldsV1(string(data))
}

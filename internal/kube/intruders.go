package kube

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// FieldManager owns the fields that the operator writes, whatever its binary is called.
const FieldManager = "appservice-operator"

// RestartedAt is the annotation of a pod template by which kubectl rollout restart works: the only field in one that
// others may own.
const RestartedAt = "kubectl.kubernetes.io/restartedAt"

// Intruders returns the managed fields that other managers own, and the operator does not, in what belongs to it as a
// whole (Traits.Whole): what an edit, a rollout undo or another controller added. What admission adds to a write of the
// operator has no owner of its own and is not included.
func Intruders(object client.Object) []metav1.ManagedFieldsEntry {
	whole := TraitsOf(object.GetObjectKind().GroupVersionKind().GroupKind()).Whole
	if whole == nil || !suspicious(object, whole) {
		return nil
	}
	var list []metav1.ManagedFieldsEntry
	entries := object.GetManagedFields()
	own := ownFields(entries)
	for _, entry := range entries {
		if !foreign(entry, whole) {
			continue
		}
		added := addedTo(whole, fieldsOf(entry), own)
		if added.Empty() {
			continue
		}
		entry.FieldsV1 = encode(added)
		list = append(list, entry)
	}
	return list
}

// Evict returns managed fields in which the operator owns what others added to what belongs to it: its next apply
// removes that. It returns nil if there is nothing to take over.
func Evict(object client.Object) []metav1.ManagedFieldsEntry {
	intruders := Intruders(object)
	if len(intruders) == 0 {
		return nil
	}
	var list []metav1.ManagedFieldsEntry
	for _, entry := range object.GetManagedFields() {
		fields := fieldsOf(entry)
		for _, intruder := range intruders {
			switch {
			case own(entry):
				fields = fields.Union(fieldsOf(intruder))
			case entry.Manager == intruder.Manager && entry.Operation == intruder.Operation &&
				entry.Subresource == intruder.Subresource:
				fields = fields.Difference(fieldsOf(intruder))
			}
		}
		if fields.Empty() {
			continue
		}
		entry.FieldsV1 = encode(fields)
		list = append(list, entry)
	}
	return list
}

// FirstField returns the path of the first field of managed fields, for example
// spec.template.spec.containers[name="app"].
func FirstField(entries []metav1.ManagedFieldsEntry) string {
	var paths []string
	for _, entry := range entries {
		fieldsOf(entry).Iterate(func(path fieldpath.Path) { paths = append(paths, path.String()) })
	}
	if len(paths) == 0 {
		return ""
	}
	return slices.Min(paths)[1:] // without the leading dot
}

// suspicious reports whether decoding managed fields may find an intruder: it is cheap, and false for nearly every
// object.
func suspicious(object client.Object, whole []string) bool {
	content, unread := object.(*unstructured.Unstructured)
	if !unread {
		return slices.ContainsFunc(object.GetManagedFields(),
			func(entry metav1.ManagedFieldsEntry) bool { return foreign(entry, whole) })
	}
	entries, _, _ := unstructured.NestedFieldNoCopy(content.Object, "metadata", "managedFields")
	list, _ := entries.([]any)
	return slices.ContainsFunc(list, func(item any) bool {
		entry, _ := item.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		spec, _ := fields["f:spec"].(map[string]any)
		return (entry["manager"] != FieldManager || entry["operation"] != string(metav1.ManagedFieldsOperationApply)) &&
			len(spec) > 0
	})
}

// own reports whether an entry belongs to the operator's applies.
func own(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == ""
}

// foreign reports whether an entry belongs to another manager and may own fields at a path.
func foreign(entry metav1.ManagedFieldsEntry, whole []string) bool {
	return !own(entry) && entry.Subresource == "" && entry.FieldsV1 != nil &&
		strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+whole[len(whole)-1]+`"`)
}

// OwnFields returns the fields that the operator applied and that no other manager has changed since.
func OwnFields(object client.Object) *fieldpath.Set { return ownFields(object.GetManagedFields()) }

func ownFields(entries []metav1.ManagedFieldsEntry) *fieldpath.Set {
	if at := slices.IndexFunc(entries, own); at >= 0 {
		return fieldsOf(entries[at])
	}
	return fieldpath.NewSet()
}

// addedTo returns the fields at a path that are not the operator's, except for what kubectl rollout restart writes.
func addedTo(whole []string, fields, own *fieldpath.Set) *fieldpath.Set {
	added := fieldpath.NewSet()
	fields.Iterate(func(path fieldpath.Path) {
		if len(path) <= len(whole) || !begins(path, whole) || own.Has(path) {
			return
		}
		rest := path[len(whole):]
		if begins(rest, []string{"metadata", "annotations"}) && (len(rest) == 2 || *rest[2].FieldName == RestartedAt) {
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

// fieldsOf decodes an entry; an entry that cannot be decoded counts as empty, as for the API server.
func fieldsOf(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := fieldpath.NewSet()
	if entry.FieldsV1 == nil || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
		return fieldpath.NewSet()
	}
	return set
}

func encode(set *fieldpath.Set) *metav1.FieldsV1 {
	data, err := set.ToJSON()
	if err != nil {
		return metav1.NewFieldsV1("{}") // only for a path that no API server produces
	}
	return metav1.NewFieldsV1(string(data))
}

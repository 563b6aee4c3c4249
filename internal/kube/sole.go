package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// SoleManager returns managed fields of an object that others made in which nobody but the operator manages it: what is in what belongs to it as
// a whole (Traits.Whole), so that its next apply removes what it does not render there, and what it applies, as the result of a dry run says; nil
// for applied if there was no dry run. What else others set has no manager from then on: it stays. Entries of subresources, by which
// autoscalers and controllers write, are left as they are.
func SoleManager(live, applied client.Object) []metav1.ManagedFieldsEntry {
	whole := TraitsOf(live.GetObjectKind().GroupVersionKind().GroupKind()).Whole
	fields, sole := fieldpath.NewSet(), metav1.ManagedFieldsEntry{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1"}
	var list []metav1.ManagedFieldsEntry
	for _, entry := range live.GetManagedFields() {
		if entry.Subresource != "" {
			list = append(list, entry)
			continue
		}
		sole.APIVersion, sole.Time = entry.APIVersion, entry.Time
		if own(entry) {
			fields = fields.Union(fieldsOf(entry))
		} else if whole != nil {
			fields = fields.Union(addedTo(whole, fieldsOf(entry), fieldpath.NewSet()))
		}
	}
	if applied != nil {
		fields = fields.Union(ownFields(applied.GetManagedFields()))
	}
	if sole.APIVersion == "" {
		sole.APIVersion = live.GetObjectKind().GroupVersionKind().GroupVersion().String()
	}
	if fields.Empty() {
		return list
	}
	sole.FieldsV1 = encode(fields)
	return append(list, sole)
}

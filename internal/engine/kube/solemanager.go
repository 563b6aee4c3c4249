package kube

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// SoleManager returns managed fields that make the operator the only manager of an object created by others: of the
// part that belongs to it alone (Traits.Exclusive), so that its next apply removes what it does not render there, and
// of the fields that it applies, according to a dry run; applied is nil if there was none. Everything else that others
// set has no manager from then on, and stays. Entries of subresources, by which autoscalers and controllers write, are
// left unchanged.
func SoleManager(live, applied client.Object) []metav1.ManagedFieldsEntry {
	fields, sole := fieldpath.NewSet(),
		metav1.ManagedFieldsEntry{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply,
			FieldsType: "FieldsV1"}
	var list []metav1.ManagedFieldsEntry
	for _, entry := range live.GetManagedFields() {
		if entry.Subresource != "" {
			list = append(list, entry)
			continue
		}
		sole.APIVersion, sole.Time = entry.APIVersion, entry.Time
		if own(entry) {
			fields = fields.Union(fieldsOf(entry))
		} else {
			fields = fields.Union(addedTo(live, fieldsOf(entry)))
		}
	}
	if applied != nil {
		fields = fields.Union(ownFields(applied.GetManagedFields()))
	}
	sole.APIVersion = cmp.Or(sole.APIVersion, live.GetObjectKind().GroupVersionKind().GroupVersion().String())
	if fields.Empty() {
		return list
	}
	sole.FieldsV1 = encode(fields)
	return append(list, sole)
}

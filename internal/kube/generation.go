package kube

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SameButStatus reports whether nothing but the status of an object can have changed between two of its versions. The API server counts
// the changes of what is desired in the generation; objects of kinds without one are the same in the very same version only.
func SameButStatus(before, after client.Object) bool {
	if before.GetUID() != after.GetUID() {
		return false
	}
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return true
	}
	return after.GetGeneration() != 0 && before.GetGeneration() == after.GetGeneration() &&
		before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp()) &&
		maps.Equal(before.GetLabels(), after.GetLabels()) &&
		maps.Equal(before.GetAnnotations(), after.GetAnnotations()) &&
		slices.Equal(before.GetFinalizers(), after.GetFinalizers()) &&
		equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) &&
		equality.Semantic.DeepEqual(before.GetManagedFields(), after.GetManagedFields())
}

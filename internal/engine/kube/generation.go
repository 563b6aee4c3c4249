package kube

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SameGeneration reports whether two versions belong to one object whose kind has a generation, and the desired state
// is the same in both.
func SameGeneration(before, after client.Object) bool {
	return before.GetUID() == after.GetUID() && after.GetGeneration() != 0 &&
		before.GetGeneration() == after.GetGeneration()
}

// SameButStatus reports whether only the status of an object can have changed between two of its versions. Objects of
// kinds without a generation are the same only in the very same version.
func SameButStatus(before, after client.Object) bool {
	if before.GetUID() == after.GetUID() && before.GetResourceVersion() == after.GetResourceVersion() {
		return true
	}
	return SameGeneration(before, after) &&
		before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp()) &&
		maps.Equal(before.GetLabels(), after.GetLabels()) &&
		maps.Equal(before.GetAnnotations(), after.GetAnnotations()) &&
		slices.Equal(before.GetFinalizers(), after.GetFinalizers()) &&
		equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences())
}

package release

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// scalesOther reports whether an object is an autoscaler.
func scalesOther(object *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "scaleTargetRef")
	return found
}

// started returns a workload as it is created: an autoscaled one with its initial number of replicas.
func started(desired *unstructured.Unstructured) *unstructured.Unstructured {
	initial, yes := plan.Autoscaled(desired)
	if !yes {
		return desired
	}
	created := desired.DeepCopy()
	_ = unstructured.SetNestedField(created.Object, initial, "spec", "replicas") // spec is an object: the stamp covers it
	return created
}

package release

import (
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

// autoscaled reports whether the number of replicas is left to an autoscaler, and returns the initial number.
func autoscaled(desired *unstructured.Unstructured) (initial int64, yes bool) {
	if !kube.TraitsOf(desired.GroupVersionKind().GroupKind()).Scales {
		return 0, false
	}
	if _, rendered, _ := unstructured.NestedFieldNoCopy(desired.Object, "spec", "replicas"); rendered {
		return 0, false
	}
	initial, err := strconv.ParseInt(desired.GetAnnotations()[v1.AnnotationInitialReplicas], 10, 32)
	return initial, err == nil
}

// scalesOther reports whether an object is an autoscaler.
func scalesOther(object *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "scaleTargetRef")
	return found
}

// unsettledReplicas reports whether the replicas of a live workload have yet to change hands: to the autoscaler, which
// is done if the workload was rendered for it and has the initial number annotated, or back. This also detects an
// interrupted transfer.
func unsettledReplicas(desired *unstructured.Unstructured, live client.Object) bool {
	if !kube.TraitsOf(desired.GroupVersionKind().GroupKind()).Scales {
		return false
	}
	annotations := live.GetAnnotations()
	_, noted := annotations[v1.AnnotationStartedWith]
	if _, scales := autoscaled(desired); !scales {
		return noted
	}
	return !noted || annotations[v1.AnnotationInitialReplicas] == ""
}

// started returns a workload as it is created: an autoscaled one with its initial number of replicas.
func started(desired *unstructured.Unstructured) *unstructured.Unstructured {
	initial, yes := autoscaled(desired)
	if !yes {
		return desired
	}
	created := desired.DeepCopy()
	_ = unstructured.SetNestedField(created.Object, initial, "spec", "replicas") // spec is an object: the stamp covers it
	return created
}

package plan

import (
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// Autoscaled reports whether the number of replicas is left to an autoscaler, and returns the initial number.
func Autoscaled(desired *unstructured.Unstructured) (initial int64, yes bool) {
	if !kube.TraitsOf(desired.GroupVersionKind().GroupKind()).Scales {
		return 0, false
	}
	if _, rendered, _ := unstructured.NestedFieldNoCopy(desired.Object, "spec", "replicas"); rendered {
		return 0, false
	}
	initial, err := strconv.ParseInt(desired.GetAnnotations()[v1.AnnotationInitialReplicas], 10, 32)
	return initial, err == nil
}

// UnsettledReplicas reports whether the replicas of a live workload have yet to change hands: to the autoscaler, which
// is done if the workload was rendered for it and has the initial number annotated, or back. This also detects an
// interrupted transfer.
func UnsettledReplicas(desired *unstructured.Unstructured, live client.Object) bool {
	if !kube.TraitsOf(desired.GroupVersionKind().GroupKind()).Scales {
		return false
	}
	annotations := live.GetAnnotations()
	_, noted := annotations[v1.AnnotationStartedWith]
	if _, scales := Autoscaled(desired); !scales {
		return noted
	}
	return !noted || annotations[v1.AnnotationInitialReplicas] == ""
}

package health

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// ScaledObject is KEDA's kind for autoscaling.
var ScaledObject = schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}

// scaledObject is ready when KEDA reports that it scales. KEDA's conditions have neither times nor generations. It
// first checks before the workload exists, and reports that it cannot scale then, so its report gets some time to
// change.
func scaledObject(object client.Object, facts Facts) State {
	content, full := kube.Content(object)
	if !full {
		return State{}
	}
	conditions, _, _ := unstructured.NestedSlice(content, "status", "conditions")
	ready := State{Reason: v1.ReasonAutoscalingFailed, Message: "KEDA has not processed the ScaledObject"}.overdue(object, facts,
		metricsPatience)
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if condition["type"] != "Ready" {
			continue
		}
		message, _ := condition["message"].(string)
		switch {
		case condition["status"] == "True":
			ready = State{}
		case condition["status"] == "False":
			ready = State{Reason: v1.ReasonAutoscalingFailed,
				Message: "autoscaling is inactive: KEDA reports: " + message}.overdue(object, facts, metricsPatience)
		case condition["reason"] == "PartialTriggerError":
			ready = State{Verdict: Warned, Reason: v1.ReasonAutoscalingFailed, Message: "KEDA reports: " + message}
		}
	}
	return ready
}

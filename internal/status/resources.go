package status

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

// resources lists what was rendered, and what each object waits for. Where nothing can be rendered the list stays.
func resources(out *v1.AppServiceStatus, in Input) {
	if in.Rendered == nil {
		return
	}
	out.Resources = nil
	for _, key := range in.Rendered {
		missing := waitsFor(in.Snapshot.Objects[key])
		if in.Snapshot.Sees([]kube.Key{key}) != nil {
			missing = "it cannot be seen"
		}
		out.Resources = append(out.Resources, v1.ResourceStatus{Kind: key.Kind, Name: key.Name, Ready: missing == "", Message: OneLine(missing)})
	}
}

// waitsFor says what an object waits for; empty where it is ready. Of objects that say nothing of it, to be there is enough.
func waitsFor(object client.Object) string {
	if object == nil {
		return "it is not there"
	}
	if kube.IsOutline(object) {
		return ""
	}
	if whole, ok := object.(*unstructured.Unstructured); ok {
		return computed(whole)
	}
	if object.GetDeletionTimestamp() != nil {
		return "it is being deleted"
	}
	switch object := object.(type) {
	case *appsv1.Deployment:
		if outcome, _, message := rollout(object); outcome != running {
			return message
		}
	case *corev1.Service:
		if object.Spec.Type == corev1.ServiceTypeLoadBalancer && len(object.Status.LoadBalancer.Ingress) == 0 {
			return "no load balancer has given it an address"
		}
	case *corev1.PersistentVolumeClaim:
		if object.Status.Phase != corev1.ClaimBound {
			return fmt.Sprintf("no volume is bound to it, it is %s", object.Status.Phase)
		}
	case *autoscalingv2.HorizontalPodAutoscaler:
		for _, condition := range object.Status.Conditions {
			if condition.Type != autoscalingv2.ScalingLimited && condition.Status == corev1.ConditionFalse && condition.Reason != "ScalingDisabled" {
				return condition.Message
			}
		}
	case *appsv1.StatefulSet, *appsv1.DaemonSet, *appsv1.ReplicaSet, *corev1.Pod:
		if content, whole := kube.Content(object); whole {
			return computed(&unstructured.Unstructured{Object: content})
		}
	}
	return ""
}

// computed says what an object waits for as kstatus reads its conditions, or an HTTPRoute those of its parents.
func computed(object *unstructured.Unstructured) string {
	parents, _, _ := unstructured.NestedSlice(object.Object, "status", "parents")
	for _, parent := range parents {
		parent, _ := parent.(map[string]any)
		list, _, _ := unstructured.NestedSlice(parent, "conditions")
		for _, condition := range list {
			condition, _ := condition.(map[string]any)
			if condition["status"] == string(metav1.ConditionFalse) {
				return fmt.Sprintf("%v: %v", condition["type"], condition["message"])
			}
		}
	}
	result, err := kstatus.Compute(object)
	if err != nil || result.Status == kstatus.CurrentStatus {
		return ""
	}
	return result.Message
}

package status

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

// counters sets the counters of a status from the main workload; zero if there is none.
func counters(out *v1.AppServiceStatus, main client.Object) {
	out.Replicas, out.UpdatedReplicas, out.ReadyReplicas, out.AvailableReplicas, out.UnavailableReplicas = 0, 0, 0, 0, 0
	out.Readiness, out.Selector, out.Image = "", "", ""
	switch main := kube.Typed(main).(type) {
	case *appsv1.Deployment:
		have := main.Status
		out.Replicas, out.UpdatedReplicas, out.ReadyReplicas = have.Replicas, have.UpdatedReplicas, have.ReadyReplicas
		out.AvailableReplicas, out.UnavailableReplicas = have.AvailableReplicas, have.UnavailableReplicas
		about(out, ptr.Deref(main.Spec.Replicas, 1), main.Spec.Selector, &main.Spec.Template)
	case *appsv1.StatefulSet:
		have, want := main.Status, ptr.Deref(main.Spec.Replicas, 1)
		out.Replicas, out.UpdatedReplicas, out.ReadyReplicas = have.Replicas, have.UpdatedReplicas, have.ReadyReplicas
		out.AvailableReplicas, out.UnavailableReplicas = have.AvailableReplicas, max(0, want-have.AvailableReplicas)
		about(out, want, main.Spec.Selector, &main.Spec.Template)
	case *appsv1.DaemonSet:
		have := main.Status
		out.Replicas, out.UpdatedReplicas, out.ReadyReplicas = have.CurrentNumberScheduled, have.UpdatedNumberScheduled, have.NumberReady
		out.AvailableReplicas, out.UnavailableReplicas = have.NumberAvailable, have.NumberUnavailable
		about(out, have.DesiredNumberScheduled, main.Spec.Selector, &main.Spec.Template)
	}
}

// about sets the fields of a status that describe all pods of a workload.
func about(out *v1.AppServiceStatus, want int32, labels *metav1.LabelSelector, pods *corev1.PodTemplateSpec) {
	out.Readiness = fmt.Sprintf("%d/%d", out.ReadyReplicas, want)
	if selector, err := metav1.LabelSelectorAsSelector(labels); err == nil {
		out.Selector = selector.String()
	}
	if len(pods.Spec.Containers) > 0 {
		out.Image = pods.Spec.Containers[0].Image
	}
}

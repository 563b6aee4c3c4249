package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// leavingPatience is how long a pod may still exist after its grace period.
const leavingPatience = 10 * time.Second

// awaiting adds the pods that are being deleted: the workload starts others only when they are gone.
func (c *cast) awaiting(pods []*corev1.Pod) *cast {
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			c.leaving = append(c.leaving, pod)
		}
	}
	slices.SortStableFunc(c.leaving, func(a, b *corev1.Pod) int {
		return kube.DeletionOf(a).Since.Compare(kube.DeletionOf(b).Since)
	})
	return c
}

// terminating returns why the pod that is being deleted for longest is still there.
func terminating(f Findings, pods []*corev1.Pod) []Cause {
	if len(pods) == 0 {
		return nil
	}
	pod := pods[0]
	going := kube.DeletionOf(pod)
	cause := Cause{Reason: v1.ReasonDeletionBlocked, Source: "pod " + pod.Name, Effect: Passing,
		Message: fmt.Sprintf("pod %s is Terminating since %s, others start when it is gone", pod.Name,
			going.Since.Format(time.RFC3339)),
		Detail: holder(f, pod, going), Hint: going.Remedy(), Until: going.Due.Add(leavingPatience), pods: len(pods)}
	if more := len(pods) - 1; more > 0 {
		cause.Message = fmt.Sprintf("pod %s and %d more are Terminating, this one since %s, others start when they are gone",
			pod.Name, more, going.Since.Format(time.RFC3339))
	}
	if len(going.Finalizers) == 0 && f.Now.Before(going.Due) && !onLostNode(f, pod) {
		cause.Hint = "have the program end soon after SIGTERM, or lower spec.terminationGracePeriodSeconds"
	}
	return []Cause{cause}
}

// holder says what keeps a pod that is being deleted.
func holder(f Findings, pod *corev1.Pod, going *kube.Deletion) string {
	switch {
	case len(going.Finalizers) > 0:
		return "finalizer " + strings.Join(going.Finalizers, ", ") + " holds it"
	case onLostNode(f, pod):
		return fmt.Sprintf("node %q is not ready, so nothing confirms that it has ended", pod.Spec.NodeName)
	case f.Now.Before(going.Due):
		return fmt.Sprintf("the grace period of %.0f s ends at %s", going.Due.Sub(going.Since).Seconds(),
			going.Due.Format(time.RFC3339))
	}
	return fmt.Sprintf("node %q has not reported its end, though its grace period is over", pod.Spec.NodeName)
}

// onLostNode reports whether the node of a pod no longer answers, as far as the pod shows it: reading nodes would take
// another right.
func onLostNode(f Findings, pod *corev1.Pod) bool {
	target := condition(pod, corev1.DisruptionTarget)
	return pod.Status.Reason == "NodeLost" || target != nil && target.Reason == "DeletionByTaintManager" ||
		len(f.eventsOf(pod.UID, "NodeNotReady")) > 0
}

package health

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// claim needs a volume as soon as a pod has to mount it: a storage class that waits for the first pod provides none
// before.
func claim(c *corev1.PersistentVolumeClaim, facts Facts) State {
	switch c.Status.Phase {
	case corev1.ClaimBound:
		return State{}
	case corev1.ClaimLost:
		return State{Verdict: Stuck, Reason: v1.ReasonVolumeNotBound, Message: "the volume is lost"}
	}
	if class := c.Spec.StorageClassName; class != nil {
		if others, missing := facts.Missing[reference.Object{Kind: reference.StorageClass, Name: *class}]; missing {
			state := State{Verdict: Stuck, Reason: v1.ReasonDependencyMissing,
				Message: fmt.Sprintf("no volume is bound: StorageClass %q does not exist", *class)}
			if len(others) > 0 {
				state.Message += "; the cluster has " + quoted(others)
			}
			return state
		}
	}
	if !isMounted(c.Name, facts) {
		return State{}
	}
	return State{Verdict: Waiting, Reason: v1.ReasonVolumeNotBound, Message: "no volume is bound yet"}
}

// isMounted reports whether a workload that was rendered together with a claim should run pods that mount it.
func isMounted(claim string, facts Facts) bool {
	for _, object := range facts.Live {
		workload, found := diagnose.WorkloadOf(object)
		if found && runs(kube.Typed(object)) &&
			slices.ContainsFunc(workload.Template.Spec.Volumes, func(v corev1.Volume) bool {
				return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
			}) {
			return true
		}
	}
	return false
}

// runs reports whether a workload should run any pods now.
func runs(workload client.Object) bool {
	switch w := workload.(type) {
	case *appsv1.Deployment:
		return ptr.Deref(w.Spec.Replicas, 1) > 0
	case *appsv1.StatefulSet:
		return ptr.Deref(w.Spec.Replicas, 1) > 0
	case *batchv1.Job:
		return !ptr.Deref(w.Spec.Suspend, false)
	case *batchv1.CronJob:
		return len(w.Status.Active) > 0
	}
	return true
}

package diagnose

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// annotationRevision is the annotation in which the Deployment controller numbers ReplicaSets.
const annotationRevision = "deployment.kubernetes.io/revision"

func revision(set *appsv1.ReplicaSet) int64 {
	number, _ := strconv.ParseInt(set.Annotations[annotationRevision], 10, 64)
	return number
}

// deployment returns a workload whose pods belong to ReplicaSets. The newest of these has the present version.
func deployment(d *appsv1.Deployment) *Workload {
	w, have, want := workload(appsv1.GroupName, "Deployment", d, d.Spec.Selector, &d.Spec.Template), d.Status,
		ptr.Deref(d.Spec.Replicas, 1)
	repeated, failed := "", false // the message of a ReplicaSet
	for _, condition := range have.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			repeated, failed = condition.Message, true
		}
	}
	w.Noticed = have.ObservedGeneration >= d.Generation
	w.Settled = w.Noticed && !failed && have.UpdatedReplicas == want && have.Replicas == want &&
		have.AvailableReplicas == want
	w.Counts = Counts{have.Replicas, have.UpdatedReplicas, have.ReadyReplicas, have.AvailableReplicas}
	w.Desired, w.Unavailable = want, have.UnavailableReplicas
	w.sets = true
	w.cast = func(f *Findings) *cast { return bySets(f, d) }
	w.refusal = func(f *Findings) (string, bool) {
		if newest := newest(f, d); newest != nil {
			return refusalOf(newest)
		}
		return repeated, failed
	}
	return w
}

// newest returns the ReplicaSet of the present version; nil if it is not known.
func newest(f *Findings, d *appsv1.Deployment) *appsv1.ReplicaSet {
	var newest *appsv1.ReplicaSet
	for i := range f.ReplicaSets {
		set := &f.ReplicaSets[i]
		if metav1.IsControlledBy(set, d) && (newest == nil || revision(set) > revision(newest)) {
			newest = set
		}
	}
	return newest
}

// bySets returns the pods of a Deployment by their ReplicaSet.
func bySets(f *Findings, d *appsv1.Deployment) *cast {
	newest := newest(f, d)
	if newest == nil {
		return nil
	}
	var pods []*corev1.Pod
	for i := range f.ReplicaSets {
		if set := &f.ReplicaSets[i]; metav1.IsControlledBy(set, d) {
			pods = append(pods, f.controlled(set.UID)...)
		}
	}
	return byVersion(pods, func(pod *corev1.Pod) bool { return metav1.IsControlledBy(pod, newest) })
}

// refusalOf returns the API server's message when it refused a pod of a ReplicaSet.
func refusalOf(set *appsv1.ReplicaSet) (string, bool) {
	for _, condition := range set.Status.Conditions {
		if condition.Type == appsv1.ReplicaSetReplicaFailure && condition.Status == corev1.ConditionTrue {
			return condition.Message, true
		}
	}
	return "", false
}

// replicaSet returns a workload without versions: a new template applies only to new pods.
func replicaSet(set *appsv1.ReplicaSet) *Workload {
	w, have, want := workload(appsv1.GroupName, "ReplicaSet", set, set.Spec.Selector, &set.Spec.Template), set.Status,
		ptr.Deref(set.Spec.Replicas, 1)
	message, failed := refusalOf(set)
	w.Noticed = have.ObservedGeneration >= set.Generation
	w.Settled = w.Noticed && !failed && have.Replicas == want && have.ReadyReplicas == want
	w.Counts = Counts{have.Replicas, have.FullyLabeledReplicas, have.ReadyReplicas, have.AvailableReplicas}
	w.Desired = want
	w.cast = func(f *Findings) *cast { return byVersion(f.controlled(set.UID), all) }
	w.refusal = func(*Findings) (string, bool) { return message, failed }
	return w
}

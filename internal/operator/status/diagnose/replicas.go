package diagnose

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// annotationRevision is the annotation in which the Deployment controller numbers ReplicaSets.
const annotationRevision = "deployment.kubernetes.io/revision"

// setRefused is the reason of a Deployment's condition and events when a ReplicaSet cannot be created.
const setRefused = "ReplicaSetCreateError"

func revision(set *appsv1.ReplicaSet) int64 {
	number, _ := strconv.ParseInt(set.Annotations[annotationRevision], 10, 64)
	return number
}

// deployment returns a workload whose pods belong to ReplicaSets. The newest of these has the present version.
func deployment(d *appsv1.Deployment) *Workload {
	w, have, want := workload(appsv1.GroupName, "Deployment", d, d.Spec.Selector, &d.Spec.Template), d.Status,
		ptr.Deref(d.Spec.Replicas, 1)
	repeated, failed, setless := "", false, false // the message of a ReplicaSet, or about one that is refused itself
	for _, condition := range have.Conditions {
		switch {
		case condition.Type == appsv1.DeploymentProgressing && condition.Reason == setRefused:
			repeated, failed, setless = condition.Message, true, true
		case condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue && !setless:
			repeated, failed = condition.Message, true
		}
	}
	w.Noticed = have.ObservedGeneration >= d.Generation
	w.Settled = w.Noticed && !failed && have.UpdatedReplicas == want && have.Replicas == want &&
		have.AvailableReplicas == want
	w.Counts = Counts{have.Replicas, have.UpdatedReplicas, have.ReadyReplicas, have.AvailableReplicas}
	if setless {
		w.Updated = 0 // the counts are of the version before
	}
	w.Desired, w.Unavailable = want, have.UnavailableReplicas
	// the Deployment controller reports a refused ReplicaSet, but not that it has observed the spec
	w.sets, w.Refused = true, setless || failed && w.Noticed
	w.cast = func(f *Findings) *cast { return bySets(f, d, setless) }
	w.creator = func(f *Findings) types.UID {
		set := newest(f, d)
		switch {
		case setless:
			return d.UID
		case set == nil || conditionOf(set) == nil:
			return ""
		}
		return set.UID
	}
	w.refusal = func(f *Findings) (string, bool) {
		newest := newest(f, d)
		switch {
		case setless:
			return f.lastMessage(d.UID, setRefused, repeated), true
		case newest != nil:
			return refusalOf(f, newest)
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

// bySets returns the pods of a Deployment by their ReplicaSet. Without a set of its version, all are of earlier ones.
func bySets(f *Findings, d *appsv1.Deployment, setless bool) *cast {
	newest := newest(f, d)
	if newest == nil {
		return nil
	}
	var pods, last []*corev1.Pod
	for i := range f.ReplicaSets {
		set := &f.ReplicaSets[i]
		if !metav1.IsControlledBy(set, d) {
			continue
		}
		of := f.controlled(set.UID)
		pods = append(pods, of...)
		if ptr.Deref(set.Spec.Replicas, 1) == 0 { // the next version waits until pods of others have ended
			last = append(last, slices.DeleteFunc(of, kube.PodEnded)...)
		}
	}
	out := byVersion(pods, func(pod *corev1.Pod) bool { return !setless && metav1.IsControlledBy(pod, newest) })
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		out.awaiting(last)
	}
	return out
}

// conditionOf returns the condition of a ReplicaSet whose pods are refused; nil if they are not.
func conditionOf(set *appsv1.ReplicaSet) *appsv1.ReplicaSetCondition {
	for i := range set.Status.Conditions {
		condition := &set.Status.Conditions[i]
		if condition.Type == appsv1.ReplicaSetReplicaFailure && condition.Status == corev1.ConditionTrue {
			return condition
		}
	}
	return nil
}

// refusalOf returns the API server's message when it refused a pod of a ReplicaSet. The condition keeps that of the
// first refusal of a row; events have that of the last one.
func refusalOf(f *Findings, set *appsv1.ReplicaSet) (string, bool) {
	condition := conditionOf(set)
	if condition == nil {
		return "", false
	}
	return f.lastMessage(set.UID, "FailedCreate", condition.Message), true
}

// lastMessage returns the message of the newest event of an object with a reason; the given one if there is none.
func (f *Findings) lastMessage(uid types.UID, reason, otherwise string) string {
	if events := f.eventsOf(uid, reason); len(events) > 0 {
		return events[0].Message
	}
	return otherwise
}

// replicaSet returns a workload without versions: a new template applies only to new pods.
func replicaSet(set *appsv1.ReplicaSet) *Workload {
	w, have, want := workload(appsv1.GroupName, "ReplicaSet", set, set.Spec.Selector, &set.Spec.Template), set.Status,
		ptr.Deref(set.Spec.Replicas, 1)
	w.Refused = conditionOf(set) != nil
	w.Noticed = have.ObservedGeneration >= set.Generation
	w.Settled = w.Noticed && !w.Refused && have.Replicas == want && have.ReadyReplicas == want
	w.Counts = Counts{have.Replicas, have.FullyLabeledReplicas, have.ReadyReplicas, have.AvailableReplicas}
	w.Desired = want
	w.cast = func(f *Findings) *cast { return byVersion(f.controlled(set.UID), all) }
	w.missesPods(w.Refused)
	w.refusal = func(f *Findings) (string, bool) { return refusalOf(f, set) }
	return w
}

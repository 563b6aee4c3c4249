package diagnose

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// statefulSet returns a workload whose pods are labeled with their revision, and whose status names the new one.
func statefulSet(s *appsv1.StatefulSet) *Workload {
	w, have, want := workload(appsv1.GroupName, "StatefulSet", s, s.Spec.Selector, &s.Spec.Template), s.Status,
		ptr.Deref(s.Spec.Replicas, 1)
	w.ByHand = s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
	below := int32(0) // the partition
	if rolling := s.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		below = ptr.Deref(rolling.Partition, 0)
	}
	w.Desired, w.Unavailable, w.Kept = want, max(0, want-have.AvailableReplicas), min(want, below)
	if w.ByHand {
		w.Kept = want
	}
	w.Noticed = have.ObservedGeneration >= s.Generation
	w.Settled = w.Noticed && have.Replicas == want && have.ReadyReplicas == want && have.UpdatedReplicas >= want-w.Kept
	w.Counts = Counts{have.Replicas, have.UpdatedReplicas, have.ReadyReplicas, have.AvailableReplicas}
	w.missesPods(have.Replicas < want)
	w.cast = func(f *Findings) *cast {
		pods := f.controlled(s.UID)
		if w.ByHand {
			return byVersion(pods, all).awaiting(pods)
		}
		return byRevision(f, s, below).awaiting(pods)
	}
	w.refusal = w.refusedByEvent
	return w
}

// byRevision returns the pods of a StatefulSet by their revision. Those below a number must stay as they are. A
// StatefulSet that creates its pods in order waits for each to be ready, even if it is of an earlier version.
func byRevision(f *Findings, s *appsv1.StatefulSet, below int32) *cast {
	out := byVersion(f.controlled(s.UID), func(pod *corev1.Pod) bool {
		return pod.Labels[appsv1.StatefulSetRevisionLabel] == s.Status.UpdateRevision || ordinal(pod) < below
	})
	for _, pod := range out.earlier {
		if s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement && !isReady(pod) {
			out.blocking = append(out.blocking, pod)
		}
	}
	return out
}

// ordinal returns the number at the end of a pod's name; one that is larger than all others if there is none.
func ordinal(pod *corev1.Pod) int32 {
	number, err := strconv.ParseInt(pod.Name[strings.LastIndex(pod.Name, "-")+1:], 10, 32)
	if err != nil {
		return 1<<31 - 1
	}
	return int32(number)
}

// labelGeneration is the label by which the DaemonSet controller recognizes pods of the present template.
const labelGeneration = "pod-template-generation"

// daemonSet returns a workload whose pods are labeled with the hash of their template and its generation. Only
// ControllerRevisions have the hash of the present one, and reading them would take another right; its generation is an
// annotation of the DaemonSet.
func daemonSet(s *appsv1.DaemonSet) *Workload {
	w, have := workload(appsv1.GroupName, "DaemonSet", s, s.Spec.Selector, &s.Spec.Template), s.Status
	want := have.DesiredNumberScheduled
	w.Desired, w.Unavailable = want, have.NumberUnavailable
	w.ByHand = s.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	if w.ByHand {
		w.Kept = want
	}
	w.Noticed = have.ObservedGeneration >= s.Generation
	w.Settled = w.Noticed && have.CurrentNumberScheduled == want && have.NumberReady == want &&
		(w.ByHand || have.UpdatedNumberScheduled == want)
	w.Counts = Counts{have.CurrentNumberScheduled, have.UpdatedNumberScheduled, have.NumberReady, have.NumberAvailable}
	w.missesPods(have.CurrentNumberScheduled < want)
	w.cast = func(f *Findings) *cast {
		pods := f.controlled(s.UID)
		if w.ByHand || have.UpdatedNumberScheduled >= have.CurrentNumberScheduled {
			return byVersion(pods, all).awaiting(pods)
		}
		return byGeneration(f, s).awaiting(pods)
	}
	w.refusal = w.refusedByEvent
	return w
}

// byGeneration returns the pods of a DaemonSet by the generation of their template. After a return to an earlier
// template, pods that were never replaced have an earlier generation and the hash of those that have the present one.
func byGeneration(f *Findings, s *appsv1.DaemonSet) *cast {
	list, hashes := f.controlled(s.UID), map[string]bool{}
	for _, pod := range list {
		if pod.Labels[labelGeneration] == s.Annotations[appsv1.DeprecatedTemplateGeneration] {
			hashes[pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]] = true
		}
	}
	return byVersion(list, func(pod *corev1.Pod) bool { return hashes[pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]] })
}

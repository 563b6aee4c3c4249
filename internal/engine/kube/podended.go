package kube

import corev1 "k8s.io/api/core/v1"

// PodEnded reports whether all containers of a pod have ended, and none starts again.
func PodEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

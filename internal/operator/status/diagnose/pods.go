package diagnose

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// pods returns the causes found in pods of the present version, or in earlier ones that it waits for; equal ones are
// merged.
func pods(f Findings) []Cause {
	cast := f.cast()
	if cast == nil {
		return nil
	}
	list := merged(f, cast.present)
	for _, pod := range cast.blocking {
		for _, cause := range ofPod(f, pod) {
			cause.Message = fmt.Sprintf("pod %s of an earlier version blocks the rollout: %s", pod.Name, cause.Message)
			cause.Hint = fmt.Sprintf("delete pod %s: then the new version starts", pod.Name)
			list = merge(list, cause)
		}
	}
	if list = append(list, terminating(f, cast.leaving)...); len(list) == 0 {
		return triedAgain(f, cast)
	}
	return list
}

func merged(f Findings, all []*corev1.Pod) []Cause {
	var merged []Cause
	for _, pod := range all {
		for _, cause := range ofPod(f, pod) {
			merged = merge(merged, cause)
		}
	}
	for i := range merged {
		cause := &merged[i]
		if step := restarted(cause.restarts); step != "" {
			cause.Message += ", " + step
		}
		if cause.pods < len(all) {
			cause.Message = fmt.Sprintf("%d of %d pods: %s", cause.pods, len(all), cause.Message)
		}
	}
	return merged
}

// merge adds the cause of one more pod.
func merge(list []Cause, cause Cause) []Cause {
	for i := range list {
		known := &list[i]
		if known.Reason != cause.Reason || known.Source != cause.Source || known.Message != cause.Message {
			continue
		}
		known.pods++
		known.restarts = max(known.restarts, cause.restarts)
		known.Effect = max(known.Effect, cause.Effect)
		if known.Detail == "" { // events are read of one pod of a kind only
			known.Detail = cause.Detail
		}
		if known.Until.IsZero() || !cause.Until.IsZero() && cause.Until.Before(known.Until) {
			known.Until = cause.Until
		}
		return list
	}
	cause.pods = 1
	return append(list, cause)
}

// ofPod returns the causes found in one pod.
func ofPod(f Findings, pod *corev1.Pod) []Cause {
	if scheduled := condition(pod, corev1.PodScheduled); scheduled != nil && scheduled.Status == corev1.ConditionFalse {
		return scheduling(f, pod, scheduled)
	}
	var list []Cause
	for _, container := range containers(pod) {
		list = append(list, ofContainer(f, pod, container)...)
		if len(list) > 0 && container.init {
			return list // the others wait for it
		}
	}
	if len(list) == 0 && creating(pod) {
		return mounting(f, pod)
	}
	return list
}

// container is the spec and the status of a container.
type container struct {
	*corev1.Container
	status *corev1.ContainerStatus
	init   bool
}

// source returns the name of a container in causes.
func (c container) source() string {
	if c.init {
		return fmt.Sprintf("init container %q", c.Name)
	}
	return fmt.Sprintf("container %q", c.Name)
}

// containers lists those of a pod that the kubelet reports, in the order in which they start.
func containers(pod *corev1.Pod) []container {
	var list []container
	add := func(specs []corev1.Container, statuses []corev1.ContainerStatus, init bool) {
		for i := range specs {
			spec := &specs[i]
			sidecar := spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways
			for j := range statuses {
				if statuses[j].Name == spec.Name {
					list = append(list, container{spec, &statuses[j], init && !sidecar})
				}
			}
		}
	}
	add(pod.Spec.InitContainers, pod.Status.InitContainerStatuses, true)
	add(pod.Spec.Containers, pod.Status.ContainerStatuses, false)
	return list
}

// creating reports whether a pod has a node, and none of its containers has started yet.
func creating(pod *corev1.Pod) bool {
	if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending {
		return false
	}
	for _, container := range containers(pod) {
		waiting := container.status.State.Waiting
		if waiting == nil || waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing" {
			return false
		}
	}
	return true
}

// appearance returns one word for what is wrong with a pod, the same for pods with the same problem; empty if it is
// healthy.
func appearance(pod *corev1.Pod) string {
	if isReady(pod) {
		for _, container := range containers(pod) {
			if container.status.LastTerminationState.Terminated != nil && !container.init {
				return "restarted"
			}
		}
		return ""
	}
	var words []string
	for _, container := range containers(pod) {
		switch state := container.status.State; {
		case state.Waiting != nil:
			words = append(words, state.Waiting.Reason)
		case state.Terminated != nil && !container.init:
			words = append(words, "ended")
		case state.Running != nil && !container.status.Ready:
			words = append(words, "unready")
		}
	}
	return "troubled " + strings.Join(words, " ")
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

package tree

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// podNode returns the node of a pod, with the state of its containers.
func podNode(sight diagnose.Sight) *Node {
	pod := sight.Pod
	n := &Node{Type: TypePod, Name: "Pod " + pod.Name, State: StateWaiting, Since: &pod.CreationTimestamp}
	ready, all := 0, len(pod.Spec.Containers)
	var words []string
	if sight.Earlier {
		words = append(words, "earlier version")
	}
	for _, container := range pod.Status.ContainerStatuses {
		if container.Ready {
			ready++
		}
		words = append(words, containerStates(container)...)
	}
	n.Ready = fmt.Sprintf("%d/%d", ready, all)
	switch {
	// its state stays Waiting, whatever its containers report while they end
	case pod.DeletionTimestamp != nil:
		words = append(words, "is being deleted")
	case pod.Status.Phase == corev1.PodSucceeded:
		n.State, words = StateReady, append(words, "completed")
	case len(sight.Causes) > 0:
		n.State = StateFailed
	case ready == all:
		n.State = StateReady
	}
	if pod.Spec.NodeName == "" {
		words = append(words, "not scheduled yet")
	}
	n.Message = strings.Join(words, ", ")
	return n
}

// containerStates describes what is unusual about a container.
func containerStates(container corev1.ContainerStatus) []string {
	var words []string
	switch state := container.State; {
	case state.Waiting != nil && state.Waiting.Reason != "":
		words = append(words, container.Name+": "+state.Waiting.Reason)
	case state.Terminated != nil:
		words = append(words, fmt.Sprintf("%s: ended with exit code %d", container.Name, state.Terminated.ExitCode))
	}
	if container.RestartCount > 0 {
		words = append(words, fmt.Sprintf("%s: restarted %d %s", container.Name, container.RestartCount,
			text.Agree(container.RestartCount, "time", "times")))
	}
	return words
}

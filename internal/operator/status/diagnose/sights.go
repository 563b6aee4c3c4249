package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Sight is one pod and the causes found in it.
type Sight struct {
	Pod *corev1.Pod
	// Earlier reports whether the pod is of an earlier version.
	Earlier bool
	// Causes found in it; none if it runs as it should.
	Causes []Cause
}

// Sights returns the pods of the workload that are not being deleted, those of the present version first.
func (f *Findings) Sights() []Sight {
	cast := f.cast()
	if cast == nil {
		return nil
	}
	var list []Sight
	for _, pod := range cast.present {
		list = append(list, Sight{Pod: pod, Causes: ofPod(*f, pod)})
	}
	for _, pod := range cast.earlier {
		list = append(list, Sight{Pod: pod, Earlier: true, Causes: ofPod(*f, pod)})
	}
	if cast.ended != nil {
		list = append(list, Sight{Pod: cast.ended, Causes: ofPod(*f, cast.ended)})
	}
	return list
}

// LastWords returns the last lines of output of a pod's container when it ended, shortened by Brief; nothing if none
// ended, or wrote nothing. Source is that of the cause.
func LastWords(pod *corev1.Pod, source string, lines int) []string {
	c, ended := endedOf(pod, source)
	if c == nil {
		return nil
	}
	var list []string
	for line := range strings.Lines(ended.Message) {
		if line = Brief(line); line != "" {
			list = append(list, line)
		}
	}
	return list[max(0, len(list)-lines):]
}

// LogsOf returns the command that shows all output of a container before it ended; empty if none ended.
func LogsOf(pod *corev1.Pod, source string) string {
	c, _ := endedOf(pod, source)
	if c == nil {
		return ""
	}
	command := fmt.Sprintf("kubectl logs --namespace=%s %s --container=%s", pod.Namespace, pod.Name, c.Name)
	if c.status.State.Terminated == nil { // another one runs, or will run, in its place
		command += " --previous"
	}
	return command
}

// endedOf returns the container that a cause is about, and how it ended; nil if it did not.
func endedOf(pod *corev1.Pod, source string) (*container, *corev1.ContainerStateTerminated) {
	for _, c := range containers(pod) {
		ended := cmp.Or(c.status.State.Terminated, c.status.LastTerminationState.Terminated)
		if c.source() == source && ended != nil {
			return &c, ended
		}
	}
	return nil, nil
}

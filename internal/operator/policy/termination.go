package policy

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// termination refuses pods that take longer to end than nodes can wait for when they are drained.
func (c *check) termination(pod *corev1.PodSpec) {
	atMost := func(path string, seconds *int64) {
		if seconds != nil && *seconds > *c.MaxTerminationSeconds {
			c.refuse(path, strconv.FormatInt(*seconds, 10), "maxTerminationSeconds",
				"is "+strconv.FormatInt(*c.MaxTerminationSeconds, 10), *seconds)
		}
	}
	atMost("terminationGracePeriodSeconds", pod.TerminationGracePeriodSeconds)
	for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range list {
			at := fmt.Sprintf("containers[%s].", list[i].Name)
			if probe := list[i].LivenessProbe; probe != nil {
				atMost(at+"livenessProbe.terminationGracePeriodSeconds", probe.TerminationGracePeriodSeconds)
			}
			if probe := list[i].StartupProbe; probe != nil {
				atMost(at+"startupProbe.terminationGracePeriodSeconds", probe.TerminationGracePeriodSeconds)
			}
			if hooks := list[i].Lifecycle; hooks != nil && hooks.PreStop != nil && hooks.PreStop.Sleep != nil {
				atMost(at+"lifecycle.preStop.sleep.seconds", &hooks.PreStop.Sleep.Seconds)
			}
		}
	}
}

package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// A container that crashed still counts as crashed when it runs again, until it has run twice as long as it did before
// it crashed, within these bounds: otherwise one that keeps crashing would look healthy in between.
const (
	leastTrust = 10 * time.Second
	mostTrust  = 5 * time.Minute
)

// recent reports whether a container that runs again may still crash again at any moment.
func recent(f Findings, ended *corev1.ContainerStateTerminated, running *corev1.ContainerStateRunning) bool {
	lasted := ended.FinishedAt.Sub(ended.StartedAt.Time)
	return f.Now.Sub(running.StartedAt.Time) < min(mostTrust, max(leastTrust, 2*lasted))
}

// crashed returns why a container ended that should run, or that should have ended differently. If it is not meant to
// run forever, a Job decides how often it is retried: a failure that is retried may pass.
func crashed(f Findings, pod *corev1.Pod, c container, ended *corev1.ContainerStateTerminated) Cause {
	cause := ending(f, pod, c, ended)
	if toEnd(pod) {
		cause.Effect = min(cause.Effect, Passing)
	}
	return cause
}

// toEnd reports whether the containers of a pod are meant to end, as those of Jobs are.
func toEnd(pod *corev1.Pod) bool {
	return pod.Spec.RestartPolicy == corev1.RestartPolicyNever || pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
}

// ending returns why a container ended.
func ending(f Findings, pod *corev1.Pod, c container, ended *corev1.ContainerStateTerminated) Cause {
	state, restarts := c.status.State, c.status.RestartCount
	effect := Passing
	if waiting := state.Waiting; waiting != nil && waiting.Reason == "CrashLoopBackOff" || restarts > 1 ||
		heldBack(f, pod, c) {
		effect = Lasting
	}
	cause := Cause{Reason: v1.ReasonContainerCrashed, Source: c.source(), Effect: effect, restarts: restarts}
	switch ended.Reason {
	case "OOMKilled":
		cause.Reason, cause.Message = v1.ReasonOutOfMemory, c.source()+" uses more memory than its limit"
		if limit, limited := c.Resources.Limits[corev1.ResourceMemory]; limited {
			cause.Message = fmt.Sprintf("%s uses more memory than its limit of %s", c.source(), limit.String())
		}
		if restarts > 0 {
			cause.Effect = Lasting
		}
		return cause
	case "StartError", "ContainerCannotRun":
		return unstartable(c, ended.Message, effect)
	}
	if killed, found := killedByProbe(f, pod, c, ended); found {
		return killed
	}
	verb := "crashes"
	if pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		verb, cause.Hint = "ended", "see kubectl logs of the pod"
	}
	cause.Message = fmt.Sprintf("%s %s with exit code %d%s", c.source(), verb, ended.ExitCode, signal(ended.ExitCode))
	if ended.ExitCode == 0 {
		cause.Message = c.source() + " exited with code 0, but a service must keep running"
		cause.Hint = "run the process in the foreground; for work that ends, use an AppJob"
	}
	cause.Detail = lastWords(ended.Message)
	return cause
}

// heldBack reports whether the kubelet delays the restart of a container. For long, its status may show only that it
// ended.
func heldBack(f Findings, pod *corev1.Pod, c container) bool {
	return slices.ContainsFunc(f.eventsOf(pod.UID, "BackOff"), func(event *corev1.Event) bool {
		return event.InvolvedObject.FieldPath == fieldPath(c) &&
			strings.Contains(event.Message, "restarting failed container")
	})
}

// signal returns the name of the signal that an exit code stands for.
func signal(code int32) string {
	names := map[int32]string{132: "illegal instruction", 134: "aborted", 135: "bus error", 137: "killed",
		139: "segmentation fault", 143: "terminated"}
	if name := names[code]; name != "" {
		return " (" + name + ")"
	}
	return ""
}

// killedByProbe returns the probe for which the kubelet stopped a container, if it did.
func killedByProbe(f Findings, pod *corev1.Pod, c container, ended *corev1.ContainerStateTerminated) (Cause, bool) {
	for _, event := range f.eventsOf(pod.UID, "Killing") {
		if event.InvolvedObject.FieldPath != fieldPath(c) || lastTime(event).Before(ended.StartedAt.Time) {
			continue
		}
		switch {
		case strings.Contains(event.Message, "failed liveness probe"):
			return failing(f, pod, c, liveness, Lasting), true
		case strings.Contains(event.Message, "failed startup probe"):
			return failing(f, pod, c, startup, Lasting), true
		}
	}
	return Cause{}, false
}

package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// kind is the kind of a probe, by the first word of the kubelet's events.
type kind string

const (
	startup   kind = "Startup"
	liveness  kind = "Liveness"
	readiness kind = "Readiness"
)

// lull is how long a pod that was ready may be unready before that is reported.
const lull = 10 * time.Second

// probes returns the failing probes of a container that runs and is not ready.
func probes(f Findings, pod *corev1.Pod, c container) []Cause {
	if c.status.Ready {
		return nil
	}
	var list []Cause
	if c.LivenessProbe != nil && unhealthy(f, pod, c, liveness) != "" {
		list = append(list, failing(f, pod, c, liveness, Passing))
	}
	switch started := c.status.Started; {
	case c.StartupProbe != nil && started != nil && !*started:
		if unhealthy(f, pod, c, startup) != "" {
			list = append(list, failing(f, pod, c, startup, Passing))
		}
	case c.ReadinessProbe != nil:
		until := c.status.State.Running.StartedAt.Add(allowance(c.ReadinessProbe))
		if ready := condition(pod, corev1.PodReady); ready != nil && ready.LastTransitionTime.Add(lull).After(until) {
			until = ready.LastTransitionTime.Add(lull)
		}
		if unhealthy(f, pod, c, readiness) != "" || !f.Now.Before(until) {
			cause := failing(f, pod, c, readiness, Passing)
			cause.Until = until
			list = append(list, cause)
		}
	}
	return list
}

// allowance returns the time after which a failing probe has reached its failure threshold.
func allowance(probe *corev1.Probe) time.Duration {
	period, threshold := cmp.Or(probe.PeriodSeconds, 10), cmp.Or(probe.FailureThreshold, 3)
	seconds := probe.InitialDelaySeconds + period*(threshold-1) + 1
	return time.Duration(seconds) * time.Second
}

// connectHint is the hint for a readiness probe that only connects.
const connectHint = "listen on that port on 0.0.0.0 (not 127.0.0.1). Slow start: set spec.probes.startupSeconds. " +
	"Other check: spec.probes.readiness; no check: {none: true} there"

// failing returns the cause for a failing probe.
func failing(f Findings, pod *corev1.Pod, c container, kind kind, effect Effect) Cause {
	cause := Cause{Source: c.source(), Effect: effect, restarts: c.status.RestartCount}
	var probe *corev1.Probe
	switch kind {
	case startup:
		cause.Reason, probe = v1.ReasonStartupProbeFailing, c.StartupProbe
	case liveness:
		cause.Reason, probe = v1.ReasonLivenessProbeFailing, c.LivenessProbe
	case readiness:
		cause.Reason, probe = v1.ReasonReadinessProbeFailing, c.ReadinessProbe
		if probe != nil && probe.TCPSocket != nil {
			cause.Hint = connectHint // it may be the default one
		}
	}
	cause.Message = fmt.Sprintf("the %s probe%s of %s fails", strings.ToLower(string(kind)), target(c, probe), c.source())
	cause.Detail = answer(unhealthy(f, pod, c, kind))
	return cause
}

// target returns the target of a probe, in brackets.
func target(c container, probe *corev1.Probe) string {
	switch {
	case probe == nil:
		return ""
	case probe.HTTPGet != nil:
		return fmt.Sprintf(" (GET :%s%s)", number(c, probe.HTTPGet.Port), probe.HTTPGet.Path)
	case probe.TCPSocket != nil:
		return fmt.Sprintf(" (TCP :%s)", number(c, probe.TCPSocket.Port))
	case probe.GRPC != nil:
		return fmt.Sprintf(" (gRPC :%d)", probe.GRPC.Port)
	case probe.Exec != nil && len(probe.Exec.Command) > 0:
		return fmt.Sprintf(" (%s)", probe.Exec.Command[0])
	}
	return ""
}

// number returns a port of a container, as a number if its name is known.
func number(c container, port intstr.IntOrString) string {
	for _, known := range c.Ports {
		if port.Type == intstr.String && known.Name == port.StrVal {
			return strconv.Itoa(int(known.ContainerPort))
		}
	}
	return port.String()
}

func fieldPath(c container) string {
	if c.init {
		return "spec.initContainers{" + c.Name + "}"
	}
	return "spec.containers{" + c.Name + "}"
}

// unhealthy returns the kubelet's last message about a probe; empty if it never failed.
func unhealthy(f Findings, pod *corev1.Pod, c container, kind kind) string {
	for _, event := range f.eventsOf(pod.UID, "Unhealthy") {
		path := event.InvolvedObject.FieldPath
		about := path == fieldPath(c) || path == "spec.initContainers{"+c.Name+"}" // a sidecar is an init container there
		if about && strings.HasPrefix(event.Message, string(kind)+" probe ") {
			return event.Message
		}
	}
	return ""
}

var (
	probePrefix = regexp.MustCompile(`^(Startup|Liveness|Readiness) probe (failed|errored)[^:]*: `)
	httpStatus  = regexp.MustCompile(`HTTP probe failed with statuscode: (\d+)`)
)

// answer shortens the kubelet's message about a probe.
func answer(message string) string {
	message = probePrefix.ReplaceAllString(message, "")
	switch found := httpStatus.FindStringSubmatch(message); {
	case found != nil:
		return "the response is HTTP status " + found[1]
	case strings.Contains(message, "connection refused"):
		return "nothing listens on the port"
	case strings.Contains(message, "context deadline exceeded"), strings.Contains(message, "Client.Timeout"),
		strings.Contains(message, "i/o timeout"),
		strings.Contains(message, "timed out"), strings.Contains(message, "timeout: failed to connect"):
		return "no response in time"
	case strings.Contains(message, "server gave HTTP response to HTTPS client"):
		return "the probe uses HTTPS, but the application responds with HTTP"
	}
	return Brief(message)
}

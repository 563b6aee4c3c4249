package diagnose

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// ofContainer returns the causes found in one container; none if it runs as it should, or waits for others.
func ofContainer(f Findings, pod *corev1.Pod, c container) []Cause {
	state := c.status.State
	switch {
	case state.Waiting != nil:
		return waiting(f, pod, c, state.Waiting)
	case state.Terminated != nil && (c.init || toEnd(pod)) && state.Terminated.ExitCode == 0:
		return nil
	case state.Terminated != nil:
		return []Cause{crashed(f, pod, c, state.Terminated)}
	case state.Running == nil:
		return nil
	}
	if ended := c.status.LastTerminationState.Terminated; ended != nil && recent(f, ended, state.Running) {
		return []Cause{crashed(f, pod, c, ended)}
	}
	return probes(f, pod, c)
}

func waiting(f Findings, pod *corev1.Pod, c container, state *corev1.ContainerStateWaiting) []Cause {
	switch state.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError",
		"RegistryUnavailable", "SignatureValidationFailed":
		return []Cause{pulling(f, pod, c, state)}
	case "CreateContainerConfigError":
		return []Cause{configuring(c, state.Message)}
	case "CreateContainerError", "RunContainerError", "PreCreateHookError", "PreStartHookError", "PostStartHookError":
		return []Cause{unstartable(c, state.Message, Lasting)}
	case "CrashLoopBackOff":
		if ended := c.status.LastTerminationState.Terminated; ended != nil {
			return []Cause{crashed(f, pod, c, ended)}
		}
		return []Cause{{Reason: v1.ReasonContainerCrashed, Source: c.source(), Message: c.source() + " keeps restarting",
			Effect: Lasting}}
	}
	return nil
}

// The kubelet's messages about ConfigMaps and Secrets of a container.
var (
	missingObject = regexp.MustCompile(`(?i)\b(configmap|secret) "([^"]+)" not found`)
	missingKey    = regexp.MustCompile(`(?i)couldn't find key (\S+) in (configmap|secret) [^/\s]+/(\S+)`)
	kinds         = map[string]string{"configmap": "ConfigMap", "secret": "Secret"}
)

// missing returns the cause of a missing ConfigMap, Secret or key, if a message reports one.
func missing(message, source string) (Cause, bool) {
	cause := Cause{Reason: v1.ReasonDependencyMissing, Source: source, Effect: Lasting}
	if found := missingObject.FindStringSubmatch(message); found != nil {
		cause.Message = fmt.Sprintf("%s %q does not exist, %s needs it", kinds[strings.ToLower(found[1])], found[2], source)
		return cause, true
	}
	if found := missingKey.FindStringSubmatch(message); found != nil {
		cause.Message = fmt.Sprintf("%s %q has no key %q, %s needs it", kinds[strings.ToLower(found[2])], found[3],
			found[1], source)
		return cause, true
	}
	return cause, false
}

// configuring returns why the configuration of a container is not available.
func configuring(c container, message string) Cause {
	if cause, found := missing(message, c.source()); found {
		return cause
	}
	cause := Cause{Reason: v1.ReasonContainerConfigInvalid, Source: c.source(),
		Message: c.source() + " cannot be configured", Effect: Lasting}
	switch {
	case strings.Contains(message, "runAsUser breaks non-root policy"):
		cause.Message = c.source() + " must not run as root, but runAsUser is 0"
		cause.Hint = "set runAsUser to another number than 0, or runAsNonRoot to false"
	case strings.Contains(message, "image will run as root"):
		cause.Message = c.source() + " must not run as root, but its image does"
		cause.Hint = "use an image with a numeric user other than 0, or set spec.security.container.runAsUser"
	case strings.Contains(message, "non-numeric user"):
		cause.Message = c.source() + " must not run as root, but the user of its image is a name, so that cannot be checked"
		cause.Hint = "give the image a numeric USER, or set spec.security.container.runAsUser"
	case strings.Contains(message, "timed out waiting for the condition"):
		cause.Effect, cause.Detail = Passing, "the node has not read its ConfigMaps and Secrets yet"
	default:
		cause.Detail = Brief(message)
	}
	return cause
}

var notInPath = regexp.MustCompile(`exec: \\?"([^"\\]+)\\?": (executable file not found in \$PATH|stat [^:]+: no such file or directory|no such file or directory|permission denied|is a directory)`)

// unstartable returns why the first process of a container cannot be started.
func unstartable(c container, message string, effect Effect) Cause {
	cause := Cause{Reason: v1.ReasonContainerStartFailed, Source: c.source(), Message: c.source() + " cannot be started",
		Effect: effect}
	cause.restarts = c.status.RestartCount
	switch found := notInPath.FindStringSubmatch(message); {
	case found != nil && found[2] == "permission denied":
		cause.Detail = fmt.Sprintf("%q in its image is not executable", found[1])
	case found != nil && found[2] == "is a directory":
		cause.Detail = fmt.Sprintf("%q in its image is a directory", found[1])
	case found != nil:
		cause.Detail = fmt.Sprintf("program %q does not exist in its image", found[1])
	case strings.Contains(message, "exec format error"):
		cause.Detail = "the program was built for another kind of processor"
		cause.Hint = "build the image for the architecture of the nodes, or choose nodes by spec.nodeSelector"
	default:
		cause.Detail = Brief(AfterLast(message, "unable to start container process: "))
	}
	return cause
}

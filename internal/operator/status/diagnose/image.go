package diagnose

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Messages of registries and container runtimes about images; the first match counts.
var pullFailures = []struct {
	words  *regexp.Regexp
	reason string
	detail string // empty for the original message
	hint   string // empty for the hint of the reason
}{
	{regexp.MustCompile(`(?i)toomanyrequests|429 Too Many Requests|rate limit`), v1.ReasonImagePullFailed,
		"the registry refuses more requests for now (rate limit)",
		"wait, or pull with an account of that registry: name a Secret with its credentials in spec.imagePullSecrets"},
	{regexp.MustCompile(`(?i)pull access denied|insufficient_scope`), v1.ReasonImagePullUnauthorized,
		"the registry denies access, or the repository does not exist", ""},
	{regexp.MustCompile(`(?i)\b401\b|\b403\b|unauthorized|authentication required|no basic auth credentials|authorization failed|access denied|denied:`), v1.ReasonImagePullUnauthorized, "the registry denies access", ""},
	{regexp.MustCompile(`(?i)no match for platform`), v1.ReasonImagePullFailed,
		"the image does not exist for the processors of the nodes",
		"use an image that is built for the processors of the nodes, or select other nodes by spec.nodeSelector"},
	// Messages of containerd since 2.0 and of Docker since 26. CRI-O still converts such images.
	{regexp.MustCompile(`(?i)docker\.distribution\.manifest\.v1\b|\bschema ?1\b.*\b(no longer|not) supported|pulling schema 1 images|schema 1 support is disabled`),
		v1.ReasonImagePullFailed, "the image is too old: its format (Docker schema 1) is no longer supported",
		"use a newer tag"},
	{regexp.MustCompile(`(?i)manifest unknown|name unknown|\bnot found\b|\b404\b|code = NotFound`), v1.ReasonImageNotFound,
		"the registry does not have it", ""},
	{regexp.MustCompile(`(?i)no such host|dial tcp: lookup |server misbehaving|Temporary failure in name resolution`),
		v1.ReasonImagePullFailed, "the name of the registry cannot be resolved",
		"check the name of the registry in spec.image; nodes have to resolve it"},
	{regexp.MustCompile(`(?i)connection refused`), v1.ReasonImagePullFailed, "the registry refuses connections", ""},
	{regexp.MustCompile(`(?i)i/o timeout|context deadline exceeded|TLS handshake timeout|no route to host|network is unreachable`), v1.ReasonImagePullFailed, "the registry cannot be reached", ""},
	{regexp.MustCompile(`(?i)x509:|server gave HTTP response to HTTPS client`), v1.ReasonImagePullFailed,
		"the certificate of the registry is not trusted",
		"ask the platform team to have nodes trust the certificate of the registry"},
	{regexp.MustCompile(`(?i)no space left on device`), v1.ReasonImagePullFailed, "the disk of the node is full",
		"ask the platform team: nodes have no room left for images"},
}

// pullPatience is how long a failed first attempt counts as passing. Kubelets may report it until the next one, which
// they delay.
const pullPatience = 8 * time.Second

// pulling returns why the image of a container is not on its node.
func pulling(f Findings, pod *corev1.Pod, c container, state *corev1.ContainerStateWaiting) Cause {
	cause := Cause{
		Reason: v1.ReasonImagePullFailed, Source: c.source(), Effect: Lasting,
		Message: fmt.Sprintf("image %q cannot be pulled", c.Image),
	}
	switch state.Reason {
	case "InvalidImageName":
		cause.Reason, cause.Message = v1.ReasonImageNameInvalid, fmt.Sprintf("%q is not a valid image name", c.Image)
		cause.Detail = Brief(AfterLast(state.Message, "invalid reference format: "))
		return cause
	case "ErrImageNeverPull":
		cause.Reason, cause.Message = v1.ReasonImageNotFound,
			fmt.Sprintf("image %q is not on the node, and imagePullPolicy Never forbids pulling it", c.Image)
		cause.Hint = "set spec.imagePullPolicy to IfNotPresent, or put the image on each node"
		return cause
	case "ErrImagePull":
		cause.Effect = Passing // tried again at once; ImagePullBackOff comes next, sooner or later
		if scheduled := condition(pod, corev1.PodScheduled); scheduled != nil {
			cause.Until = scheduled.LastTransitionTime.Add(pullPatience)
		}
	}
	message := state.Message
	if _, why, found := strings.Cut(message, "ErrImagePull: "); found {
		message = why
	} else if state.Reason == "ImagePullBackOff" { // older kubelets do not repeat why
		message = ""
		for _, event := range f.eventsOf(pod.UID, "Failed") {
			if strings.HasPrefix(event.Message, "Failed to pull image") {
				message = event.Message
				break
			}
		}
	}
	for _, failure := range pullFailures {
		if failure.words.MatchString(message) {
			cause.Reason, cause.Detail, cause.Hint = failure.reason, failure.detail, failure.hint
			return cause
		}
	}
	cause.Detail = Brief(AfterLast(message, "desc = "))
	return cause
}

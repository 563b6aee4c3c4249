package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// volumePatience is how long provisioning or mounting a volume may take before that is reported as lasting.
const volumePatience = 15 * time.Second

// aboutVolumes reports whether the scheduler waits for claims.
func aboutVolumes(message string) bool {
	return strings.Contains(message, "persistentvolumeclaim") || strings.Contains(message, "PersistentVolumeClaim") ||
		strings.Contains(message, "persistent volumes to bind")
}

// unbound returns why claims that a pod needs are not bound. Claims that were not read are not judged.
func unbound(f Findings, pod *corev1.Pod) []Cause {
	var list []Cause
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		name := volume.PersistentVolumeClaim.ClaimName
		for i := range f.Claims {
			switch claim := &f.Claims[i]; {
			case claim.Name != name:
			case claim.DeletionTimestamp != nil:
				list = append(list, deleted(claim))
			case claim.Status.Phase != corev1.ClaimBound:
				list = append(list, pending(f, claim))
			}
		}
	}
	if scheduled := condition(pod, corev1.PodScheduled); len(list) == 0 {
		if found := missingClaim.FindStringSubmatch(scheduled.Message); found != nil {
			return []Cause{{
				Reason: v1.ReasonDependencyMissing, Source: "PersistentVolumeClaim " + found[1], Effect: Lasting,
				Message: fmt.Sprintf("PersistentVolumeClaim %q does not exist, the pod needs it", found[1]),
			}}
		}
	}
	return list
}

var (
	missingClaim = regexp.MustCompile(`persistentvolumeclaim "([^"]+)" not found`)
	missingClass = regexp.MustCompile(`storageclass\.storage\.k8s\.io "([^"]*)" not found`)
)

// deleted returns the cause for which nothing can use a claim that is being deleted.
func deleted(claim *corev1.PersistentVolumeClaim) Cause {
	going := kube.DeletionOf(claim)
	return Cause{Reason: v1.ReasonDeletionBlocked, Source: "PersistentVolumeClaim " + claim.Name, Effect: Passing, Until: going.Until(),
		Message: fmt.Sprintf("no pod can use PersistentVolumeClaim %q: it is Terminating %s", claim.Name, going),
		Hint:    going.Remedy() + "; then create it again"}
}

// pending returns the cause for which a claim waits.
func pending(f Findings, claim *corev1.PersistentVolumeClaim) Cause {
	cause := Cause{
		Reason: v1.ReasonVolumeNotBound, Source: "PersistentVolumeClaim " + claim.Name, Effect: Passing,
		Message: fmt.Sprintf("no volume for PersistentVolumeClaim %q yet", claim.Name),
		Until:   claim.CreationTimestamp.Add(volumePatience),
	}
	if claim.Status.Phase == corev1.ClaimLost {
		cause.Effect, cause.Message = Lasting, fmt.Sprintf("the volume of PersistentVolumeClaim %q is gone", claim.Name)
		return cause
	}
	events := f.eventsOf(claim.UID, "ProvisioningFailed", "FailedBinding", "ExternalProvisioning", "WaitForPodScheduled")
	if len(events) == 0 {
		return cause
	}
	event := events[0]
	switch found := missingClass.FindStringSubmatch(event.Message); {
	case found != nil:
		cause.Effect, cause.Detail = Lasting, fmt.Sprintf("StorageClass %q does not exist", found[1])
		cause.Hint = "set storageClassName of spec.persistence or spec.claims to an existing StorageClass (kubectl get storageclass), and delete the PersistentVolumeClaim, so that it is created again"
	case strings.Contains(event.Message, "no storage class is set"):
		cause.Effect, cause.Detail = Lasting, "the claim names no StorageClass, and the cluster has no default"
	case event.Reason == "ExternalProvisioning":
		cause.Detail = "the provisioner of its StorageClass has not created it"
	default:
		cause.Detail = Brief(event.Message)
	}
	return cause
}

var (
	mountPrefix = regexp.MustCompile(`^(?:MountVolume|AttachVolume|UnmountVolume)\.\w+ failed for volume "([^"]+)"(?: \([^)]*\))?\s*:\s*`)
	badKey      = regexp.MustCompile(`references non-existent (?:config|secret) key: (\S+)`)
)

// mounting returns why a pod with a node has no containers: a volume that cannot be mounted, or a network that is not
// available.
func mounting(f Findings, pod *corev1.Pod) []Cause {
	var until time.Time
	if scheduled := condition(pod, corev1.PodScheduled); scheduled != nil {
		until = scheduled.LastTransitionTime.Add(volumePatience)
	}
	// what failed last counts: the volumes are mounted before the pod is set up
	for _, event := range f.eventsOf(pod.UID, "FailedMount", "FailedAttachVolume", "FailedMapVolume",
		"FailedCreatePodSandBox", "NetworkNotReady") {
		if event.Reason == "FailedCreatePodSandBox" || event.Reason == "NetworkNotReady" {
			return []Cause{{
				Reason: v1.ReasonNodeTrouble, Source: "node", Message: "the node cannot set up the pod", Effect: Passing,
				Detail: Brief(AfterLast(event.Message, "desc = ")), Until: until,
			}}
		}
		if attached := f.eventsOf(pod.UID, "SuccessfulAttachVolume"); event.Reason == "FailedAttachVolume" &&
			len(attached) > 0 && lastTime(attached[0]).After(lastTime(event)) {
			continue
		}
		volume := "a volume"
		if found := mountPrefix.FindStringSubmatch(event.Message); found != nil {
			volume = named(pod, found[1])
		} else if event.Reason == "FailedMount" && hasMore(f, pod) {
			continue // it only sums up
		}
		if cause, found := missing(event.Message, volume); found {
			return []Cause{cause}
		}
		if found := badKey.FindStringSubmatch(event.Message); found != nil {
			return []Cause{{
				Reason: v1.ReasonDependencyMissing, Source: volume, Effect: Lasting,
				Message: fmt.Sprintf("the ConfigMap or Secret of %s has no key %q", volume, found[1]),
			}}
		}
		cause := Cause{
			Reason: v1.ReasonVolumeNotMounted, Source: volume, Message: volume + " cannot be mounted", Effect: Passing,
			Until:  until,
			Detail: Brief(mountPrefix.ReplaceAllString(event.Message, "")),
		}
		if strings.Contains(event.Message, "Multi-Attach error") {
			cause.Detail = "a pod on another node still has it"
			cause.Hint = "a ReadWriteOnce volume is on one node at a time: set spec.strategy.type to Recreate, or use a volume that is ReadWriteMany"
			for _, other := range f.podsThat(func(other *corev1.Pod) bool { return other.DeletionTimestamp != nil }) {
				going := kube.DeletionOf(other)
				cause.Detail = fmt.Sprintf("pod %s still has it, which is Terminating %s", other.Name, going)
				cause.Hint = going.Remedy()
			}
		}
		return []Cause{cause}
	}
	return nil
}

// named returns a volume as the spec names it. The kubelet names the persistent volume where the spec names a claim.
func named(pod *corev1.Pod, name string) string {
	var claims []string
	for _, volume := range pod.Spec.Volumes {
		if volume.Name == name {
			return fmt.Sprintf("volume %q", name)
		}
		if volume.PersistentVolumeClaim != nil {
			claims = append(claims, volume.Name)
		}
	}
	if len(claims) == 1 {
		return fmt.Sprintf("volume %q", claims[0])
	}
	return "a volume"
}

// hasMore reports whether an event names the volume that cannot be mounted.
func hasMore(f Findings, pod *corev1.Pod) bool {
	events := f.eventsOf(pod.UID, "FailedMount", "FailedAttachVolume")
	return slices.ContainsFunc(events, func(event *corev1.Event) bool { return mountPrefix.MatchString(event.Message) })
}

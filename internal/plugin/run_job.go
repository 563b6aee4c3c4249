package plugin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// commandJob is what the Job of a command is made of.
type commandJob struct {
	name, namespace      string
	command              []string
	sidecars, stdin, tty bool
}

// runLabel is the only label of the pods, besides those of their Job: no Service, policy or autoscaler selects it.
const runLabel = "app.kubernetes.io/managed-by"

// kept is for how long a Job that nobody takes away is there after its end, in seconds.
const kept = 24 * 60 * 60

// of returns a Job that runs the command in the first container of a pod template: with its image, environment,
// account and volumes other than those of each replica, and without its labels, ports, probes, init containers, and
// what the operator has written on it. The container has no other name, so a policy of admission sees the same.
func (c commandJob) of(template *corev1.PodTemplateSpec) *batchv1.Job {
	pod := template.DeepCopy()
	labels := map[string]string{runLabel: fieldManager}
	pod.ObjectMeta = metav1.ObjectMeta{Labels: labels, Annotations: foreign(pod.Annotations)}
	pod.Spec.InitContainers = slices.DeleteFunc(pod.Spec.InitContainers, func(container corev1.Container) bool {
		return !c.sidecars || ptr.Deref(container.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways
	})
	pod.Spec.EphemeralContainers = nil
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.NodeName, pod.Spec.Hostname, pod.Spec.Subdomain = "", "", ""
	pod.Spec.ReadinessGates, pod.Spec.TopologySpreadConstraints = nil, nil
	if pod.Spec.Affinity != nil {
		pod.Spec.Affinity.PodAntiAffinity = nil // it is for replicas: each node may have one
	}
	if !c.sidecars {
		pod.Spec.Containers = pod.Spec.Containers[:1]
	}
	for _, container := range containersOf(&pod.Spec) {
		container.Ports, container.Lifecycle = nil, nil
		container.LivenessProbe, container.ReadinessProbe = nil, nil
		if container.RestartPolicy == nil { // the command waits for the startup probe of a sidecar
			container.StartupProbe = nil
		}
		container.VolumeMounts = slices.DeleteFunc(container.VolumeMounts,
			func(mount corev1.VolumeMount) bool { return slices.Contains(ownVolumes(template), mount.Name) })
	}
	first := &pod.Spec.Containers[0]
	first.Command, first.Args = c.command, nil
	first.Stdin, first.StdinOnce, first.TTY = c.stdin, c.stdin, c.tty
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: c.name, Namespace: c.namespace, Labels: labels},
		Spec: batchv1.JobSpec{BackoffLimit: ptr.To[int32](0), Parallelism: ptr.To[int32](1), Completions: ptr.To[int32](1),
			TTLSecondsAfterFinished: ptr.To[int32](kept), Template: *pod},
	}
}

// containersOf returns the init containers of a pod, then the others.
func containersOf(pod *corev1.PodSpec) (list []*corev1.Container) {
	for i := range pod.InitContainers {
		list = append(list, &pod.InitContainers[i])
	}
	for i := range pod.Containers {
		list = append(list, &pod.Containers[i])
	}
	return list
}

// ownVolumes returns the names of volumes that each replica of a StatefulSet has for itself: those that its template
// mounts and does not declare.
func ownVolumes(template *corev1.PodTemplateSpec) (names []string) {
	for _, container := range containersOf(&template.Spec) {
		for _, mount := range container.VolumeMounts {
			declared := slices.ContainsFunc(template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
			if !declared && !slices.Contains(names, mount.Name) {
				names = append(names, mount.Name)
			}
		}
	}
	return names
}

// foreign returns the annotations that are not the operator's own.
func foreign(annotations map[string]string) map[string]string {
	out := maps.Clone(annotations)
	maps.DeleteFunc(out, func(key, _ string) bool {
		domain, _, _ := strings.Cut(key, "/")
		return domain == v1.GroupVersion.Group || domain == "kubectl.kubernetes.io"
	})
	return out
}

// runName returns the name of a Job of a resource.
func runName(resource, suffix string) string {
	name := resource + "-run-" + suffix
	if extra := len(name) - mostOfJob; extra > 0 {
		name = strings.TrimRight(resource[:len(resource)-extra], "-.") + "-run-" + suffix
	}
	return name
}

// mostOfJob is the maximum length of a Job's name, which is a label of its pods.
const mostOfJob = 63

// egressOf returns a policy for the pods of a Job, with what the policies that select the pods of a template let them
// reach; nil if none limits that.
func egressOf(policies []networkingv1.NetworkPolicy, template *corev1.PodTemplateSpec,
	job *batchv1.Job) (*networkingv1.NetworkPolicy, error) {
	var rules []networkingv1.NetworkPolicyEgressRule
	limited := false
	for i := range policies {
		policy := &policies[i]
		selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
		if err != nil {
			return nil, fmt.Errorf("cannot read NetworkPolicy %s: %w", policy.Name, err)
		}
		egress := slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		live, own := labels.Set(template.Labels), labels.Set(job.Spec.Template.Labels)
		if !egress || !selector.Matches(live) || selector.Matches(own) {
			continue // one that selects both applies to both
		}
		limited = true
		rules = append(rules, policy.Spec.Egress...)
	}
	if !limited {
		return nil, nil
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: job.Name, Namespace: job.Namespace, Labels: maps.Clone(job.Labels)},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{batchv1.JobNameLabel: job.Name}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}, Egress: rules,
		},
	}, nil
}

// inUse returns why a command cannot have the volumes of a template now; empty if it can. Claims are those of the
// namespace, pods those that run.
func inUse(template *corev1.PodTemplateSpec, claims map[string]*corev1.PersistentVolumeClaim,
	pods []corev1.Pod) string {
	for _, volume := range template.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		name := volume.PersistentVolumeClaim.ClaimName
		claim := claims[name]
		if claim == nil || !single(claim.Spec.AccessModes) {
			continue
		}
		for i := range pods {
			uses := func(v corev1.Volume) bool {
				return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == name
			}
			if !kube.PodEnded(&pods[i]) && slices.ContainsFunc(pods[i].Spec.Volumes, uses) {
				return fmt.Sprintf("claim %s can be mounted on one node only (%s), and pod %s uses it: use kubectl exec %s, or scale down first",
					name, claim.Spec.AccessModes[0], pods[i].Name, pods[i].Name)
			}
		}
	}
	return ""
}

// single reports whether a claim can be mounted on one node only.
func single(modes []corev1.PersistentVolumeAccessMode) bool {
	return len(modes) > 0 && !slices.ContainsFunc(modes, func(mode corev1.PersistentVolumeAccessMode) bool {
		return mode == corev1.ReadWriteMany || mode == corev1.ReadOnlyMany
	})
}

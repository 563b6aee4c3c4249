package plugin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// liveTemplate is the pod template of an application.
func liveTemplate() *corev1.PodTemplateSpec {
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/instance": "web", "app.kubernetes.io/managed-by": "appservice-operator"},
			Annotations: map[string]string{"app.example.com/checksum": "1", "kubectl.kubernetes.io/restartedAt": "now", "vault.hashicorp.com/agent-inject": "true"}},
		Spec: corev1.PodSpec{
			ServiceAccountName: "web", Hostname: "web", RestartPolicy: corev1.RestartPolicyAlways,
			InitContainers: []corev1.Container{{Name: "init"}, {Name: "tunnel", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
				Ports: []corev1.ContainerPort{{ContainerPort: 82}}, StartupProbe: probe}},
			Containers: []corev1.Container{{Name: "app", Image: "nginx:1.27", Command: []string{"serve"}, Args: []string{"-v"},
				Env: []corev1.EnvVar{{Name: "A", Value: "1"}}, Ports: []corev1.ContainerPort{{ContainerPort: 80}},
				LivenessProbe: probe, ReadinessProbe: probe, StartupProbe: probe, Lifecycle: &corev1.Lifecycle{},
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}, {Name: "proxy", Ports: []corev1.ContainerPort{{ContainerPort: 81}}}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "web"}}}},
		},
	}
}

func TestTheJobOfACommandIsMadeOfTheLiveTemplate(t *testing.T) {
	live := liveTemplate()
	job := commandJob{name: "web-run-1", namespace: "shop", command: []string{"manage", "shell"}}.of(live)
	assert.Equal(t, liveTemplate(), live, "it is not changed")
	assert.Empty(t, job.OwnerReferences)
	assert.Empty(t, job.Annotations)
	pod := job.Spec.Template
	require.Empty(t, pod.Spec.InitContainers)
	pod.Spec.InitContainers = nil
	assert.Equal(t, map[string]string{"app.kubernetes.io/managed-by": "kubectl-appservice"}, pod.Labels)
	assert.Equal(t, map[string]string{"vault.hashicorp.com/agent-inject": "true"}, pod.Annotations)
	assert.Equal(t, corev1.PodSpec{
		ServiceAccountName: "web", RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "app", Image: "nginx:1.27", Command: []string{"manage", "shell"},
			Env: []corev1.EnvVar{{Name: "A", Value: "1"}}, VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
		Volumes: live.Spec.Volumes,
	}, pod.Spec)

	with := commandJob{name: "web-run-1", command: []string{"sh"}, sidecars: true, stdin: true, tty: true}.of(live)
	require.Len(t, with.Spec.Template.Spec.Containers, 2)
	require.Len(t, with.Spec.Template.Spec.InitContainers, 1)
	assert.Equal(t, "tunnel", with.Spec.Template.Spec.InitContainers[0].Name)
	assert.Empty(t, with.Spec.Template.Spec.InitContainers[0].Ports)
	assert.NotNil(t, with.Spec.Template.Spec.InitContainers[0].StartupProbe, "the command begins when it is up")
	assert.Empty(t, with.Spec.Template.Spec.Containers[1].Ports)
	assert.True(t, with.Spec.Template.Spec.Containers[0].TTY)
	assert.False(t, with.Spec.Template.Spec.Containers[1].TTY)
}

func TestAVolumeOfEachReplicaIsLeftOut(t *testing.T) {
	live := liveTemplate()
	live.Spec.Volumes = nil
	assert.Equal(t, []string{"data"}, ownVolumes(live))
	assert.Empty(t, commandJob{name: "web-run-1"}.of(live).Spec.Template.Spec.Containers[0].VolumeMounts)
	assert.Empty(t, ownVolumes(liveTemplate()))
}

func TestNamesOfJobsFitIntoALabel(t *testing.T) {
	assert.Equal(t, "web-run-abcde", runName("web", "abcde"))
	assert.Equal(t, strings.Repeat("x", 53)+"-run-abcde", runName(strings.Repeat("x", 60), "abcde"))
	assert.Equal(t, strings.Repeat("x", 52)+"-run-abcde", runName(strings.Repeat("x", 52)+"-"+strings.Repeat("x", 9), "abcde"), "without a hyphen at the cut")
}

func TestACommandReachesWhatTheApplicationDoes(t *testing.T) {
	policy := func(name string, selects map[string]string, kind networkingv1.PolicyType, port int32) networkingv1.NetworkPolicy {
		to := intstr.FromInt32(port)
		return networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: selects}, PolicyTypes: []networkingv1.PolicyType{kind},
			Egress: []networkingv1.NetworkPolicyEgressRule{{Ports: []networkingv1.NetworkPolicyPort{{Port: &to}}}}}}
	}
	own := map[string]string{"app.kubernetes.io/instance": "web"}
	template := liveTemplate()
	job := commandJob{name: "web-run-1", namespace: "shop"}.of(template)
	made, err := egressOf([]networkingv1.NetworkPolicy{policy("in", own, networkingv1.PolicyTypeIngress, 1),
		policy("other", map[string]string{"app.kubernetes.io/instance": "api"}, networkingv1.PolicyTypeEgress, 2),
		policy("all", nil, networkingv1.PolicyTypeEgress, 3)}, template, job)
	require.NoError(t, err)
	assert.Nil(t, made, "the one for all pods applies by itself")

	made, err = egressOf([]networkingv1.NetworkPolicy{policy("a", own, networkingv1.PolicyTypeEgress, 5432),
		policy("b", own, networkingv1.PolicyTypeEgress, 53)}, template, job)
	require.NoError(t, err)
	require.NotNil(t, made)
	assert.Equal(t, map[string]string{batchv1.JobNameLabel: "web-run-1"}, made.Spec.PodSelector.MatchLabels)
	assert.Len(t, made.Spec.Egress, 2)
}

func TestAClaimOfOneNodeIsNotSharedWithACommand(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}}
	claims := map[string]*corev1.PersistentVolumeClaim{"web": claim}
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}, Spec: liveTemplate().Spec}
	assert.Equal(t, "claim web can be mounted on one node only (ReadWriteOnce), and pod web-1 uses it: use kubectl exec web-1, or scale down first",
		inUse(liveTemplate(), claims, []corev1.Pod{pod}))
	assert.Empty(t, inUse(liveTemplate(), claims, nil))
	pod.Status.Phase = corev1.PodSucceeded
	assert.Empty(t, inUse(liveTemplate(), claims, []corev1.Pod{pod}))
	pod.Status.Phase = corev1.PodRunning
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany}
	assert.Empty(t, inUse(liveTemplate(), claims, []corev1.Pod{pod}))
	assert.Empty(t, inUse(liveTemplate(), nil, []corev1.Pod{pod}), "one that cannot be read")
}

package diagnose

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// endingSince is a pod on node n whose deletion was requested some seconds ago, with a grace period of 30 s.
func endingSince(pod corev1.Pod, ago time.Duration, finalizers ...string) corev1.Pod {
	pod.Namespace, pod.Finalizers, pod.Spec.NodeName = "demo", finalizers, "n"
	pod.DeletionTimestamp = ptr.To(metav1.NewTime(noon.Add((30 - ago) * time.Second)))
	pod.DeletionGracePeriodSeconds = ptr.To[int64](30)
	return pod
}

// recreated is a Deployment that replaces its pods all at once, whose earlier pods are being deleted.
func recreated(change func(*Findings)) Findings {
	f := rollout(nil, []corev1.PodStatus{healthy, healthy})
	f.Workload = deployment(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web"},
		Spec: appsv1.DeploymentSpec{Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}}})
	f.ReplicaSets = f.ReplicaSets[:1] // the new one is created when the pods of the old one are gone
	f.ReplicaSets[0].Spec.Replicas = ptr.To[int32](0)
	change(&f)
	return f
}

func TestPodsThatCannotEnd(t *testing.T) {
	first := func(ago time.Duration, finalizers ...string) func(*Findings) {
		return func(f *Findings) { f.Pods = []corev1.Pod{endingSince(f.Pods[0], ago, finalizers...)} }
	}
	const since = " is Terminating since 2026-01-01T11:59:55Z, others start when it is gone: "
	for name, test := range map[string]struct {
		change func(*Findings)
		want   string
		hint   string
	}{
		"a finalizer, at first":    {first(5, "example.com/hold"), "1 pod web-2-0" + since + "finalizer example.com/hold holds it", "kubectl patch pod web-2-0 --namespace=demo"},
		"its grace period":         {first(5), "1 pod web-2-0" + since + "the grace period of 30 s ends at 2026-01-01T12:00:25Z", "terminationGracePeriodSeconds"},
		"a finalizer, later on":    {first(40, "example.com/hold"), "2 pod web-2-0 is Terminating since 2026-01-01T11:59:20Z, others start when it is gone: finalizer example.com/hold holds it", "kubectl patch pod"},
		"a node that does not say": {first(40), "2 pod web-2-0 is Terminating since 2026-01-01T11:59:20Z, others start when it is gone: node \"n\" has not reported its end, though its grace period is over", "--force"},
		"a node that is lost":      {func(f *Findings) { first(5)(f); f.Events = []corev1.Event{refused("web-2-0", "NodeNotReady", "", 1)} }, "1 pod web-2-0" + since + `node "n" is not ready, so nothing confirms that it has ended`, "kubectl delete node n"},
		"a node with a taint": {func(f *Findings) {
			first(5)(f)
			f.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Reason: "DeletionByTaintManager"}}
		}, "1 pod web-2-0" + since + `node "n" is not ready, so nothing confirms that it has ended`, "--force"},
		"a pod that has ended":       {func(f *Findings) { first(5, "a/b")(f); f.Pods[0].Status.Phase = corev1.PodSucceeded }, "", ""},
		"pods that nobody waits for": {func(f *Findings) { first(5, "a/b")(f); f.Workload = rollout(nil, nil).Workload }, "", ""},
		"several, the first one first": {func(f *Findings) { f.Pods[0], f.Pods[1] = endingSince(f.Pods[0], 5), endingSince(f.Pods[1], 6, "a/b") },
			"1 pod web-2-1 and 1 more are Terminating, this one since 2026-01-01T11:59:54Z, others start when they are gone: finalizer a/b holds it", "kubectl patch"},
	} {
		t.Run(name, func(t *testing.T) {
			f := recreated(test.change)
			assert.Equal(t, test.want, causesOf(t, f))
			for _, cause := range Causes(f) {
				assert.Equal(t, v1.ReasonDeletionBlocked, cause.Reason)
				assert.Contains(t, cause.Hint, test.hint)
			}
		})
	}
}

func TestWhoWaitsUntilPodsHaveEnded(t *testing.T) {
	going := func(owner, revision string) []corev1.Pod {
		return []corev1.Pod{endingSince(podOf(owner, 2, revision, readied), 5, "a/b")}
	}
	cause := func(pod string) string {
		return "1 pod " + pod + " is Terminating since 2026-01-01T11:59:55Z, others start when it is gone: finalizer a/b holds it"
	}
	for name, test := range map[string]kindCase{
		"StatefulSet": {statefulSetOf(func(*appsv1.StatefulSet) {}), going("db", "old"), nil, cause("db-2")},
		"DaemonSet":   {daemonSetOf(func(*appsv1.DaemonSet) {}), going("agent", "old"), nil, cause("agent-2")},
		"ReplicaSet":  {replicaSetOf(func(*appsv1.ReplicaSet) {}), going("web", ""), nil, ""},
	} {
		t.Run(name, func(t *testing.T) { testKind(t, test) })
	}
}

// One pod that is being deleted is looked at more closely, unless it says itself what holds it.
func TestOnePodThatCannotEndIsSuspect(t *testing.T) {
	for want, finalizers := range map[string][]string{"[web-2-0]": nil, "[]": {"a/b"}} {
		f := recreated(func(f *Findings) {
			f.Pods[0], f.Pods[1] = endingSince(f.Pods[0], 6, finalizers...), endingSince(f.Pods[1], 5, finalizers...)
		})
		assert.Equal(t, want, fmt.Sprint(f.Suspects()))
	}
}

func TestAClaimThatIsBeingDeleted(t *testing.T) {
	f := rollout([]corev1.PodStatus{unplaced}, nil)
	f.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: `persistentvolumeclaim "data" is being deleted`}}
	f.Pods[0].Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "data", Finalizers: []string{"kubernetes.io/pvc-protection"}, DeletionTimestamp: ptr.To(metav1.NewTime(noon))}}
	claim.Status.Phase = corev1.ClaimBound
	f.Claims = []corev1.PersistentVolumeClaim{claim}
	assert.Equal(t, `1 no pod can use PersistentVolumeClaim "data": it is Terminating since 2026-01-01T12:00:00Z, blocked by finalizer kubernetes.io/pvc-protection`, causesOf(t, f))
	assert.Contains(t, Causes(f)[0].Hint, "kubectl describe persistentvolumeclaim data --namespace=demo")
	f.Now = noon.Add(time.Minute)
	assert.Equal(t, Lasting, Causes(f)[0].Effect)
}

func TestTheLastRefusalCounts(t *testing.T) {
	const webhook = `Error creating: admission webhook "pods.example.com" denied the request: no`
	f := rollout(nil, nil)
	refuses(&f.ReplicaSets[1])
	refusedLater := refused("web-10", "FailedCreate", webhook, 1)
	for name, test := range map[string]struct {
		events []corev1.Event
		want   string
	}{
		"no event":            {nil, noQuota},
		"another one since":   {[]corev1.Event{refused("web-10", "FailedCreate", "Error creating: "+quotaWords, 5), refusedLater}, `2 no pods: admission webhook "pods.example.com" refuses them: no`},
		"of an earlier set":   {[]corev1.Event{refused("web-2", "FailedCreate", webhook, 1)}, noQuota},
		"the first one again": {[]corev1.Event{refusedLater, refused("web-10", "FailedCreate", "(combined from similar events): Error creating: "+quotaWords, 0)}, noQuota},
	} {
		t.Run(name, func(t *testing.T) {
			f.Events = test.events
			assert.Equal(t, test.want, causesOf(t, f))
			assert.Equal(t, "[web-10]", fmt.Sprint(f.Suspects()))
		})
	}
	f.ReplicaSets[1].Status.Conditions = nil
	f.Events = []corev1.Event{refusedLater}
	assert.Empty(t, causesOf(t, f))
	assert.Empty(t, f.Suspects(), "events are read although nothing is refused")
}

// A Deployment whose ReplicaSet is refused has none of its version.
func TestTheLastRefusalOfAReplicaSetCounts(t *testing.T) {
	const denied = `Failed to create new replica set "web-1": admission webhook "%s" denied the request: no`
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web"}}
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ReplicaSetCreateError", Message: fmt.Sprintf(denied, "first")}}
	f := rollout(nil, nil)
	f.Workload = deployment(d)
	assert.Equal(t, `2 no pods: admission webhook "first" refuses them: no`, causesOf(t, f))
	f.Events = []corev1.Event{refused("web", "ReplicaSetCreateError", fmt.Sprintf(denied, "second"), 1)}
	assert.Equal(t, `2 no pods: admission webhook "second" refuses them: no`, causesOf(t, f))
	assert.Equal(t, "[web]", fmt.Sprint(f.Suspects()))

	d.Generation = 2 // which its controller does not report to have observed
	assert.True(t, deployment(d).Refused)
	f.Events = []corev1.Event{refused("web", "ReplicaSetCreateError", `Failed to create new replica set "web-1": replicasets.apps "web-1" is forbidden: `+
		`exceeded quota: sets, requested: count/replicasets.apps=1, used: count/replicasets.apps=3, limited: count/replicasets.apps=3`, 1)}
	assert.Equal(t, `2 no more pods: ResourceQuota "sets" is used up: 3 of 3 count/replicasets.apps are used, the ReplicaSet of a new version requests 1`, causesOf(t, f))
	assert.Contains(t, Causes(f)[0].Hint, "larger quota")

	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: quotaWords}}
	assert.False(t, deployment(d).Refused, "of the spec before")
}

// The StatefulSet controller creates no pod for a claim that is being deleted.
func TestAClaimOfAReplicaThatIsBeingDeleted(t *testing.T) {
	f := &Findings{Now: noon, Workload: statefulSet(statefulSetOf(func(set *appsv1.StatefulSet) { set.Status.Replicas = 0 }).(*appsv1.StatefulSet))}
	f.Events = []corev1.Event{refused(string(f.Workload.UID), "FailedCreate", "Create Pod db-0 in StatefulSet db failed error: pvc data-db-0 is being deleted", 1)}
	assert.Equal(t, `2 no pod can use PersistentVolumeClaim "data-db-0": it is Terminating`, causesOf(t, *f))
	assert.Equal(t, v1.ReasonDeletionBlocked, Causes(*f)[0].Reason)
}

// The last failure is the cause: a volume that could not be attached is, by then.
func TestTheLastTroubleOfAPodThatIsSetUp(t *testing.T) {
	creating := waitingFor("ContainerCreating", "")
	creating.Phase = corev1.PodPending
	attach := refused("web-10-0", "FailedAttachVolume", `AttachVolume.Attach failed for volume "pvc-1": full`, 9)
	for name, test := range map[string]struct {
		events []corev1.Event
		want   string
	}{
		"it cannot be attached":        {[]corev1.Event{attach}, "1 a volume cannot be mounted: full"},
		"it is attached":               {[]corev1.Event{attach, refused("web-10-0", "SuccessfulAttachVolume", "", 5)}, ""},
		"the network fails since":      {[]corev1.Event{attach, refused("web-10-0", "FailedCreatePodSandBox", "rpc error: code = Unknown desc = no network", 5)}, "1 the node cannot set up the pod: no network"},
		"the network failed before it": {[]corev1.Event{attach, refused("web-10-0", "NetworkNotReady", "no network", 20)}, "1 a volume cannot be mounted: full"},
	} {
		t.Run(name, func(t *testing.T) {
			f := rollout([]corev1.PodStatus{creating}, nil)
			f.Pods[0].Spec.NodeName = "n"
			f.Events = test.events
			assert.Equal(t, test.want, causesOf(t, f))
		})
	}
}

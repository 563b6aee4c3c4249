package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// meta1 is the metadata of a workload, which controls its pods by its name.
func meta1(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "demo", Name: name, UID: types.UID(name), Generation: 1}
}

// podOf is a pod of a workload of revision "new" or "old", created after those with a smaller number.
func podOf(owner string, number int, revision string, status corev1.PodStatus) corev1.Pod {
	kind := "StatefulSet"
	if strings.HasPrefix(owner, "run-") {
		kind = "Job"
	}
	pod := corev1.Pod{Status: status, ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("%s-%d", owner, number), CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(number) * time.Second)),
		Labels:          map[string]string{appsv1.StatefulSetRevisionLabel: revision, labelGeneration: map[string]string{"old": "1", "new": "2"}[revision]},
		OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: owner, UID: types.UID(owner), Controller: ptr.To(true)}},
	}}
	pod.UID = types.UID(pod.Name)
	pod.Spec.Containers = []corev1.Container{{Name: "app", Image: "app:1"}}
	return pod
}

// refused are events about pods that were not created, or that were, seconds ago.
func refused(owner, reason, message string, ago time.Duration) corev1.Event {
	return corev1.Event{
		InvolvedObject: corev1.ObjectReference{UID: types.UID(owner)}, Reason: reason, Message: message,
		LastTimestamp: metav1.NewTime(noon.Add(-ago * time.Second)),
	}
}

func statefulSetOf(change func(*appsv1.StatefulSet)) client.Object {
	s := &appsv1.StatefulSet{ObjectMeta: meta1("db")}
	s.Spec.Replicas = ptr.To[int32](3)
	s.Status = appsv1.StatefulSetStatus{ObservedGeneration: 1, Replicas: 3, ReadyReplicas: 2, UpdatedReplicas: 1, UpdateRevision: "new"}
	change(s)
	return s
}

func daemonSetOf(change func(*appsv1.DaemonSet)) client.Object {
	s := &appsv1.DaemonSet{ObjectMeta: meta1("agent")}
	s.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "2"}
	s.Status = appsv1.DaemonSetStatus{ObservedGeneration: 1, DesiredNumberScheduled: 3, CurrentNumberScheduled: 3, UpdatedNumberScheduled: 1, NumberReady: 2}
	change(s)
	return s
}

func replicaSetOf(change func(*appsv1.ReplicaSet)) client.Object {
	s := &appsv1.ReplicaSet{ObjectMeta: meta1("web")}
	s.Status = appsv1.ReplicaSetStatus{ObservedGeneration: 1, Replicas: 1}
	change(s)
	return s
}

var (
	notFound = waitingFor("ImagePullBackOff", `Back-off pulling image "app:1": ErrImagePull: manifest unknown`)
	readied  = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	unplaced = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available: 1 Insufficient cpu.",
	}}}
)

const (
	noImage     = `2 image "app:1" cannot be pulled: the registry does not have it`
	noQuota     = `2 no more pods: ResourceQuota "none" is used up: 0 of 0 pods are used, a pod requests 1`
	quotaWords  = `pods "x" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0`
	statefulErr = "create Pod db-2 in StatefulSet db failed error: " + quotaWords
)

// kindCase is a workload of one kind with its pods, and what is found.
type kindCase struct {
	object client.Object
	pods   []corev1.Pod
	events []corev1.Event
	want   string
}

func TestCausesOfEachKind(t *testing.T) {
	short := func(s *appsv1.StatefulSet) { s.Status.Replicas = 2 }
	same := func(*appsv1.StatefulSet) {}
	again := crashing(2, time.Second, time.Second) // it is ready once more
	again.Conditions = readied.Conditions
	cases := map[string]kindCase{
		"StatefulSet: the present revision is ill":    {statefulSetOf(same), []corev1.Pod{podOf("db", 2, "new", notFound), podOf("db", 1, "old", readied)}, nil, noImage},
		"StatefulSet: a pod has no node":              {statefulSetOf(same), []corev1.Pod{podOf("db", 2, "new", unplaced)}, nil, "2 no node can run the pod: the only node has too little cpu left"},
		"StatefulSet: a container crashes":            {statefulSetOf(same), []corev1.Pod{podOf("db", 2, "new", crashing(2, time.Second, 0))}, nil, `2 container "app" crashes with exit code 1`},
		"StatefulSet: pods of others do not count":    {statefulSetOf(same), []corev1.Pod{podOf("other", 2, "new", notFound)}, nil, ""},
		"StatefulSet: an earlier pod is waited for":   {statefulSetOf(same), []corev1.Pod{podOf("db", 2, "old", notFound)}, nil, "2 pod db-2 of an earlier version blocks the rollout: " + noImage[2:]},
		"StatefulSet: nobody waits for what is ready": {statefulSetOf(same), []corev1.Pod{podOf("db", 2, "old", again)}, nil, ""},
		"StatefulSet: nobody waits for an earlier pod": {statefulSetOf(func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }),
			[]corev1.Pod{podOf("db", 2, "old", notFound)}, nil, ""},
		"StatefulSet: below the partition the earlier revision stays": {statefulSetOf(func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}
		}), []corev1.Pod{podOf("db", 1, "old", notFound), podOf("db", 2, "new", readied)}, nil, "2 1 of 2 pods: " + noImage[2:]},
		"StatefulSet: whoever deletes pods decides on their revision": {statefulSetOf(func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }),
			[]corev1.Pod{podOf("db", 1, "old", notFound)}, nil, noImage},
		"StatefulSet: a pod is refused":            {statefulSetOf(short), nil, []corev1.Event{refused("db", "FailedCreate", statefulErr, 1)}, noQuota},
		"StatefulSet: a pod was refused once":      {statefulSetOf(short), nil, []corev1.Event{refused("db", "SuccessfulCreate", "", 1), refused("db", "FailedCreate", statefulErr, 2)}, ""},
		"StatefulSet: all pods are there":          {statefulSetOf(same), nil, []corev1.Event{refused("db", "FailedCreate", statefulErr, 1)}, ""},
		"StatefulSet: a claim is refused":          {statefulSetOf(short), nil, []corev1.Event{refused("db", "FailedCreate", `create Claim data-db-2 for Pod db-2 in StatefulSet db failed error: the moon is full`, 1)}, "2 pods cannot be created: the moon is full"},
		"StatefulSet: the event of another object": {statefulSetOf(short), nil, []corev1.Event{refused("other", "FailedCreate", statefulErr, 1)}, ""},
		"DaemonSet: the present template is ill":   {daemonSetOf(func(*appsv1.DaemonSet) {}), []corev1.Pod{podOf("agent", 1, "new", notFound), podOf("agent", 2, "old", readied)}, nil, noImage},
		"DaemonSet: only the earlier one is ill":   {daemonSetOf(func(*appsv1.DaemonSet) {}), []corev1.Pod{podOf("agent", 1, "new", readied), podOf("agent", 2, "old", notFound)}, nil, ""},
		"DaemonSet: all have the present template": {daemonSetOf(func(s *appsv1.DaemonSet) { s.Status.UpdatedNumberScheduled = 3 }), []corev1.Pod{podOf("agent", 2, "old", notFound)}, nil, noImage},
		"DaemonSet: an earlier template is back":   {daemonSetOf(func(*appsv1.DaemonSet) {}), []corev1.Pod{podOf("agent", 1, "new", readied), back(podOf("agent", 2, "old", notFound))}, nil, "2 1 of 2 pods: " + noImage[2:]},
		"DaemonSet: pods are replaced by hand":     {daemonSetOf(func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }), []corev1.Pod{podOf("agent", 2, "old", notFound)}, nil, noImage},
		"DaemonSet: a pod is refused":              {daemonSetOf(func(s *appsv1.DaemonSet) { s.Status.CurrentNumberScheduled = 2 }), nil, []corev1.Event{refused("agent", "FailedCreate", "Error creating: "+quotaWords, 1)}, noQuota},
		"ReplicaSet: a pod is ill":                 {replicaSetOf(func(*appsv1.ReplicaSet) {}), []corev1.Pod{podOf("web", 1, "", notFound)}, nil, noImage},
		"ReplicaSet: a pod is refused":             {replicaSetOf(refuses), nil, nil, noQuota},
		"ReplicaSet: a pod that is going":          {replicaSetOf(func(*appsv1.ReplicaSet) {}), []corev1.Pod{leaving(podOf("web", 1, "", notFound))}, nil, ""},
		"Deployment: its ReplicaSet is not known":  {&appsv1.Deployment{ObjectMeta: meta1("web")}, []corev1.Pod{podOf("web", 1, "", notFound)}, nil, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) { testKind(t, test) })
	}
}

// back is a pod that has the hash of those of the present template, and the generation of an earlier one.
func back(pod corev1.Pod) corev1.Pod {
	pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = "new"
	return pod
}

func leaving(pod corev1.Pod) corev1.Pod {
	pod.DeletionTimestamp = ptr.To(metav1.NewTime(noon))
	return pod
}

func refuses(s *appsv1.ReplicaSet) {
	s.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Message: quotaWords}}
}

func testKind(t *testing.T, test kindCase) {
	t.Helper()
	workload, found := WorkloadOf(test.object)
	if !found {
		t.Fatalf("%T makes no pods", test.object)
	}
	f := Findings{Workload: workload, Pods: test.pods, Events: test.events, Now: noon.Add(time.Minute)}
	if workload.Kind != "Job" && workload.Kind != "CronJob" {
		f.Now = noon
	}
	assert.Equal(t, test.want, causesOf(t, f))
}

// Events are asked for by object: those of the workload only while they may say something.
func TestAWorkloadThatIsShortOfPodsIsSuspect(t *testing.T) {
	for missing, want := range map[int32]string{0: "[db-2]", 1: "[db db-2]"} {
		workload, _ := WorkloadOf(statefulSetOf(func(s *appsv1.StatefulSet) { s.Status.Replicas -= missing }))
		f := Findings{Workload: workload, Pods: []corev1.Pod{podOf("db", 2, "new", notFound)}}
		if got := fmt.Sprint(f.Suspects()); got != want {
			t.Errorf("with %d pods missing, got %s, want %s", missing, got, want)
		}
	}
}

func TestWhichObjectsMakePods(t *testing.T) {
	made := map[string]client.Object{
		"Deployment web": &appsv1.Deployment{ObjectMeta: meta1("web")}, "StatefulSet db": &appsv1.StatefulSet{ObjectMeta: meta1("db")},
		"DaemonSet agent": &appsv1.DaemonSet{ObjectMeta: meta1("agent")}, "ReplicaSet web": &appsv1.ReplicaSet{ObjectMeta: meta1("web")},
		"Job migrate": &batchv1.Job{ObjectMeta: meta1("migrate")}, "CronJob backup": &batchv1.CronJob{ObjectMeta: meta1("backup")},
	}
	for name, object := range made {
		if workload, found := WorkloadOf(object); !found || workload.String() != name || workload.UID != object.GetUID() || workload.Namespace != "demo" || workload.Template == nil {
			t.Errorf("got %+v, want %s", workload, name)
		}
	}
	for _, object := range []client.Object{nil, &corev1.Service{}, &corev1.Pod{}} {
		if workload, found := WorkloadOf(object); found {
			t.Errorf("got %s of %T", workload, object)
		}
	}
}

package controller

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// podReader has pods, and counts how often they are listed.
type podReader struct {
	client.Reader
	pods  []corev1.Pod
	looks int
}

func (r *podReader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if list, yes := list.(*corev1.PodList); yes {
		r.looks++
		list.Items = slices.Clone(r.pods)
	}
	return nil
}

// clinic is a reconciler between workloads whose pods are ill.
type clinic struct {
	*Reconciler
	*podReader
	clock *testclock.FakePassiveClock
	scope *scope
	there *livestate.Snapshot
}

func newClinic(workloads ...client.Object) *clinic {
	clock := testclock.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	pods := &podReader{}
	there := &livestate.Snapshot{Objects: map[kube.Key]client.Object{}}
	for _, object := range workloads {
		workload, _ := diagnose.WorkloadOf(object)
		there.Objects[workload.Key] = object
		object.SetUID(types.UID(object.GetName()))
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: object.GetName() + "-0", UID: types.UID(object.GetName() + "-0")}}
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: workload.Kind, Name: object.GetName(), UID: object.GetUID(), Controller: ptr.To(true)}}
		pod.Spec.Containers = []corev1.Container{{Name: "app", Image: object.GetName() + ":1"}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImageNeverPull"}}}}
		pods.pods = append(pods.pods, pod)
	}
	return &clinic{
		Reconciler: &Reconciler{Clock: clock, Live: pods}, podReader: pods, clock: clock, there: there,
		scope: &scope{resource: app("a"), previous: &v1.AppServiceStatus{}, memory: &remembered{}},
	}
}

// after lets time pass and returns the workloads at which a cause is known.
func (c *clinic) after(t *testing.T, wait time.Duration) []string {
	t.Helper()
	c.clock.SetTime(c.clock.Now().Add(wait))
	causes, looks := c.diagnose(t.Context(), c.scope, rendering{}, c.there, nil)
	c.scope.memory.looks = looks
	var list []string
	for key := range causes {
		list = append(list, key.String())
	}
	slices.Sort(list)
	return list
}

func (c *clinic) wait() time.Duration {
	return c.next(c.scope, rendering{}, attempt{observed: c.there}, 0).RequeueAfter
}

// unready is a workload with a pod that is not ready.
func unready[T client.Object](object T, name string) T {
	object.SetName(name)
	switch object := any(object).(type) {
	case *appsv1.StatefulSet:
		object.Status.Replicas, object.Status.UpdatedReplicas = 1, 1
	case *appsv1.DaemonSet:
		object.Status.DesiredNumberScheduled, object.Status.CurrentNumberScheduled = 1, 1
	case *batchv1.Job:
		object.Status.StartTime, object.Status.Active = ptr.To(metav1.Now()), 1
	}
	return object
}

func TestEachWorkloadIsLookedAt(t *testing.T) {
	stateful := unready(&appsv1.StatefulSet{}, "db")
	c := newClinic(stateful, unready(&batchv1.Job{}, "migrate"))
	if got := c.after(t, 0); len(got) > 0 || c.looks > 0 {
		t.Fatalf("got causes at %q and %d looks, though all may be on their way", got, c.looks)
	}
	if got := c.after(t, 4*time.Second); !slices.Equal(got, []string{"Job migrate", "StatefulSet db"}) || c.looks != 2 {
		t.Fatalf("got causes at %q after %d looks, want both after one each", got, c.looks)
	}
	c.there.Objects[kube.Key{GroupKind: appsv1.SchemeGroupVersion.WithKind("DaemonSet").GroupKind(), Name: "agent"}] = unready(&appsv1.DaemonSet{}, "agent")
	c.after(t, time.Second)
	if wait := c.wait(); wait > 3*time.Second {
		t.Errorf("the next look is after %s, though that at the newest workload comes first", wait)
	}
	stateful.Status.ReadyReplicas = 1
	if got := c.after(t, time.Second); !slices.Equal(got, []string{"Job migrate"}) || len(c.scope.memory.looks) != 2 {
		t.Errorf("got causes at %q and %d schedules, want none at what is ready", got, len(c.scope.memory.looks))
	}
}

func TestTheLastWordsOfAJobOutliveItsPods(t *testing.T) {
	job := unready(&batchv1.Job{}, "migrate")
	c := newClinic(job)
	c.after(t, 0)
	if got := c.after(t, 4*time.Second); len(got) != 1 {
		t.Fatalf("got causes at %q", got)
	}
	job.Status.Active, c.pods = 0, nil
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded"}}
	c.after(t, 10*time.Second)
	for _, looks := range c.scope.memory.looks {
		if got := looks.Causes[0]; got.Reason != v1.ReasonJobFailed || !strings.Contains(got.Text(), `"migrate:1" is not on the node`) {
			t.Errorf("got %s %q, want the failure with what led to it", got.Reason, got.Text())
		}
	}
}

func TestLooksAtSeveralWorkloadsAreBound(t *testing.T) {
	c := newClinic(unready(&appsv1.StatefulSet{}, "db"), unready(&batchv1.Job{}, "migrate"))
	c.Looks = rate.NewLimiter(0, 1)
	c.after(t, 0)
	if c.after(t, 4*time.Second); c.looks != 1 || c.wait() != diagnose.LookRetry {
		t.Errorf("got %d looks with a bound of one, and the next after %s", c.looks, c.wait())
	}
	c.Looks.SetLimit(rate.Inf)
	if c.after(t, diagnose.LookRetry); c.looks != 2 {
		t.Errorf("got %d looks a moment later, want that of the other workload, too", c.looks)
	}
}

func TestWhatIsWellOrNotJudgedIsNotLookedAt(t *testing.T) {
	unnoticed := unready(&appsv1.StatefulSet{}, "db")
	unnoticed.Generation = 1
	ready := unready(&appsv1.StatefulSet{}, "db")
	ready.Status.ReadyReplicas = 1
	for name, test := range map[string]struct {
		workload client.Object
		paused   bool
		problem  *status.Problem
	}{
		"all is well":                        {ready, false, nil},
		"its controller has not seen it":     {unnoticed, false, nil},
		"paused":                             {unready(&appsv1.StatefulSet{}, "db"), true, nil},
		"something else is the matter":       {unready(&appsv1.StatefulSet{}, "db"), false, &status.Problem{}},
		"it is not a workload that it knows": {nil, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClinic()
			if test.workload != nil {
				c = newClinic(test.workload)
			}
			c.scope.paused = test.paused
			for range 3 {
				causes, looks := c.diagnose(t.Context(), c.scope, rendering{}, c.there, test.problem)
				if c.scope.memory.looks = looks; len(causes)+len(looks)+c.looks > 0 {
					t.Fatalf("got the causes %v, %d schedules and %d looks", causes, len(looks), c.looks)
				}
				c.clock.SetTime(c.clock.Now().Add(time.Minute))
			}
		})
	}
}

// After a restart it is known that something crashes again and again, and not what: each is looked at once, the others then no longer.
func TestAfterARestartOnlyWhatCrashesIsLookedAtAgain(t *testing.T) {
	well, ill := unready(&appsv1.StatefulSet{}, "db"), unready(&appsv1.StatefulSet{}, "queue")
	well.Status.ReadyReplicas, ill.Status.ReadyReplicas = 1, 1 // between two crashes
	c := newClinic(well, ill)
	c.pods[0].Status = corev1.PodStatus{}
	c.scope.previous.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonContainerCrashed}}
	c.scope.previous.ObservedGeneration = c.scope.resource.GetGeneration()
	c.pods[1].Status.ContainerStatuses[0].State.Waiting.Reason = "CrashLoopBackOff"
	for i, want := range []int{2, 2, 3, 3} {
		got := c.after(t, 10*time.Second)
		if !slices.Equal(got, []string{"StatefulSet queue"}) || c.looks != want {
			t.Errorf("step %d: got causes at %q after %d looks, want %d", i, got, c.looks, want)
		}
	}
	if count := len(c.scope.memory.looks); count != 1 {
		t.Errorf("got %d schedules, want that of what crashes", count)
	}
}

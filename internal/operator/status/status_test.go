package status

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

var (
	then = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	now  = metav1.NewTime(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
)

func resource() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "app.example.com/v1", "kind": "AppService"}}
	o.SetNamespace("demo")
	o.SetName("web")
	o.SetGeneration(7)
	return o
}

// snapshot makes a snapshot of objects and of a deployed release.
func snapshot(t *testing.T, objects ...client.Object) *livestate.Snapshot {
	t.Helper()
	s := &livestate.Snapshot{
		Objects: map[kube.Key]client.Object{},
		Record:  &livestate.Record{Revision: 2, Status: "deployed", Digest: "digest", Chart: "1.2.3"},
	}
	for _, object := range objects {
		s.Objects[kube.KeyOf(object)] = object
	}
	return s
}

func deploymentKey(name string) kube.Key {
	return kube.Key{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Name: name}
}

// counts are the numbers of a Deployment: wanted, then all, updated and available pods.
type counts struct{ want, all, updated, available int32 }

func deployment(c counts, conditions ...appsv1.DeploymentCondition) *appsv1.Deployment {
	available := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Reason: "MinimumReplicasUnavailable", Message: "Deployment does not have minimum availability."}
	if c.available >= c.want-c.want/4 {
		available = appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."}
	}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", Generation: 3},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(c.want),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "nginx:1.27"}, {Name: "proxy", Image: "envoy"}}}},
		},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 3, Replicas: c.all, UpdatedReplicas: c.updated, ReadyReplicas: c.available,
			AvailableReplicas: c.available, UnavailableReplicas: max(0, c.want-c.available),
			Conditions: append([]appsv1.DeploymentCondition{available}, conditions...),
		},
	}
}

func progress(reason string) appsv1.DeploymentCondition {
	status := corev1.ConditionTrue
	if reason == "ProgressDeadlineExceeded" {
		status = corev1.ConditionFalse
	}
	return appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: status, Reason: reason, Message: "ReplicaSet"}
}

func refusedPods(message string) appsv1.DeploymentCondition {
	return appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: message}
}

func unobserved(d *appsv1.Deployment) *appsv1.Deployment {
	d.Generation++
	return d
}

// state is how a resource stands, and what its status has to say.
type state struct {
	workload *appsv1.Deployment
	problem  *Problem
	previous v1.Phase

	ready, available, reconciling, stalled bool

	phase           v1.Phase
	reason, message string
}

const deadline = "ProgressDeadlineExceeded"

func states() map[string]state {
	blocked := &Problem{Reason: v1.ReasonResourceExists, Message: `Service "web" exists`, Blocked: true}
	transient := &Problem{Reason: v1.ReasonUpgradeFailed, Message: "the API server is ill"}
	return map[string]state{
		"everything as desired": {
			deployment(counts{2, 2, 2, 2}, progress("NewReplicaSetAvailable")), nil, v1.PhaseUpdating,
			true, true, false, false, v1.PhaseRunning, v1.ReasonRunning, "2 of 2 replicas are up to date and available",
		},
		"everything as desired, though a deadline was passed on the way": {
			deployment(counts{2, 2, 2, 2}, progress(deadline)), nil, v1.PhaseDegraded,
			true, true, false, false, v1.PhaseRunning, v1.ReasonRunning, "2 of 2 replicas are up to date and available",
		},
		"size 0": {
			deployment(counts{0, 0, 0, 0}, progress("NewReplicaSetAvailable")), nil, v1.PhaseRunning,
			true, true, false, false, v1.PhaseRunning, v1.ReasonScaledToZero, "scaled to zero as desired",
		},
		"on the way to size 0": {
			deployment(counts{0, 2, 2, 2}), nil, v1.PhaseRunning,
			false, true, true, false, v1.PhaseUpdating, v1.ReasonRollingOut, "",
		},
		"scaling down": {
			deployment(counts{2, 5, 5, 5}), nil, v1.PhaseRunning,
			false, true, true, false, v1.PhaseUpdating, v1.ReasonRollingOut, "",
		},
		"scaling up": {
			deployment(counts{5, 2, 2, 2}), nil, v1.PhaseRunning,
			false, false, true, false, v1.PhaseUpdating, v1.ReasonRollingOut, "2 of 5 replicas are up to date",
		},
		"rolling out for the first time, nothing said yet": {
			&appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "demo", Generation: 1}},
			nil, "",
			false, false, true, false, v1.PhasePending, v1.ReasonRollingOut, "waiting for the rollout to begin",
		},
		"rolling out for the first time": {
			deployment(counts{2, 2, 2, 0}, progress("ReplicaSetUpdated")), nil, v1.PhasePending,
			false, false, true, false, v1.PhasePending, v1.ReasonRollingOut, "0 of 2 replicas are available",
		},
		"rolling out a later version, not seen yet": {
			unobserved(deployment(counts{2, 2, 2, 2})), nil, v1.PhaseRunning,
			false, true, true, false, v1.PhaseUpdating, v1.ReasonRollingOut, "waiting for the rollout to begin",
		},
		"rolling out a later version": {
			deployment(counts{2, 3, 1, 2}, progress("ReplicaSetUpdated")), nil, v1.PhaseUpdating,
			false, true, true, false, v1.PhaseUpdating, v1.ReasonRollingOut, "1 of 2 replicas are up to date",
		},
		"old pods are still to end": {
			deployment(counts{2, 3, 2, 2}, progress("ReplicaSetUpdated")), nil, v1.PhaseUpdating,
			false, true, true, false, v1.PhaseUpdating, v1.ReasonRollingOut, "1 old replica is pending termination",
		},
		"rolling out again after it was stuck": {
			unobserved(deployment(counts{2, 3, 1, 2}, progress(deadline))), nil, v1.PhaseDegraded,
			false, true, true, false, v1.PhaseUpdating, v1.ReasonRollingOut, "waiting for the rollout to begin",
		},
		"a pod got lost": {
			deployment(counts{2, 2, 2, 1}, progress("NewReplicaSetAvailable")), nil, v1.PhaseRunning,
			false, false, true, false, v1.PhaseUpdating, v1.ReasonRollingOut, "1 of 2 replicas are available",
		},
		"stuck, the old version runs": {
			deployment(counts{2, 3, 1, 2}, progress(deadline)), nil, v1.PhaseUpdating,
			false, true, false, true, v1.PhaseDegraded, v1.ReasonRolloutStalled,
			"0 of 2 updated replicas became available before the progress deadline; rollout stalled, the previous version still runs",
		},
		"stuck, nothing serves": {
			deployment(counts{2, 2, 2, 0}, progress(deadline)), nil, v1.PhasePending,
			false, false, false, true, v1.PhaseFailed, v1.ReasonRolloutStalled, "0 of 2 updated replicas became available before the progress deadline",
		},
		"stuck for the first time, a part of it serves": {
			deployment(counts{2, 2, 2, 1}, progress(deadline)), nil, v1.PhasePending,
			false, false, false, true, v1.PhaseDegraded, v1.ReasonRolloutStalled, "1 of 2 updated replicas became available before the progress deadline",
		},
		"no quota for pods, nothing serves": {
			deployment(counts{2, 0, 0, 0}, progress("NewReplicaSetCreated"), refusedPods("exceeded quota")), nil, v1.PhasePending,
			false, false, false, true, v1.PhaseFailed, v1.ReasonReplicaFailure, "pods cannot be created: exceeded quota",
		},
		"no quota for pods, the old version runs": {
			deployment(counts{2, 2, 0, 2}, refusedPods("exceeded quota")), nil, v1.PhaseUpdating,
			false, true, false, true, v1.PhaseDegraded, v1.ReasonReplicaFailure,
			"pods cannot be created: exceeded quota; rollout stalled, the previous version still runs",
		},
		"blocked while it serves": {
			deployment(counts{2, 2, 2, 2}), blocked, v1.PhaseRunning,
			false, true, false, true, v1.PhaseDegraded, v1.ReasonResourceExists, `Service "web" exists`,
		},
		"blocked while nothing serves": {
			deployment(counts{2, 2, 2, 0}), blocked, v1.PhaseRunning,
			false, false, false, true, v1.PhaseFailed, v1.ReasonResourceExists, `Service "web" exists`,
		},
		"blocked from the start": {
			nil, blocked, "",
			false, false, false, true, v1.PhaseFailed, v1.ReasonResourceExists, `Service "web" exists`,
		},
		"a transient problem while it serves": {
			deployment(counts{2, 2, 2, 2}), transient, v1.PhaseRunning,
			false, true, true, false, v1.PhaseUpdating, v1.ReasonUpgradeFailed, "the API server is ill",
		},
		"a transient problem at first": {
			nil, transient, "",
			false, false, true, false, v1.PhasePending, v1.ReasonUpgradeFailed, "the API server is ill",
		},
		"the chart renders nothing that runs": {
			nil, nil, "",
			true, true, false, false, v1.PhaseRunning, v1.ReasonNoWorkload, "the chart renders nothing",
		},
	}
}

// input is what Summarize is given in a state.
func (s state) input(t *testing.T) Input {
	t.Helper()
	in := Input{
		Resource: resource(), Previous: &v1.AppServiceStatus{Phase: s.previous}, Snapshot: snapshot(t), Digest: "digest", Problem: s.problem, Now: now,
	}
	if s.workload != nil {
		in.Snapshot = snapshot(t, s.workload)
		in.Rendered = []kube.Key{kube.KeyOf(s.workload)}
	}
	return in
}

func TestADeploymentThatIsRenderedAndMissingIsWaitedFor(t *testing.T) {
	rendered := func(kind, group, name string) kube.Key {
		return kube.Key{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Name: name}
	}
	second := deployment(counts{1, 1, 1, 1})
	second.Name = "second"
	service := &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
	cases := map[string]struct {
		rendered []kube.Key
		there    []client.Object
		previous v1.Phase
		phase    v1.Phase
		reason   string
	}{
		"it is missing at first": {[]kube.Key{rendered("Deployment", "apps", "web")}, nil, "", v1.PhasePending, v1.ReasonPending},
		"it is missing later":    {[]kube.Key{rendered("Deployment", "apps", "web")}, nil, v1.PhaseRunning, v1.PhaseUpdating, v1.ReasonPending},
		"one of two is missing":  {[]kube.Key{rendered("Deployment", "apps", "web"), rendered("Deployment", "apps", "second")}, []client.Object{second}, v1.PhaseRunning, v1.PhaseUpdating, v1.ReasonPending},
		"it is there":            {[]kube.Key{rendered("Deployment", "apps", "second")}, []client.Object{second}, v1.PhaseRunning, v1.PhaseRunning, v1.ReasonRunning},
		"none is rendered":       {[]kube.Key{rendered("Service", "", "web")}, []client.Object{service}, "", v1.PhaseRunning, v1.ReasonNoWorkload},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			in := state{previous: test.previous}.input(t)
			in.Rendered, in.Snapshot = test.rendered, snapshot(t, test.there...)
			out := summarize(in)
			ready := meta.FindStatusCondition(out.Conditions, v1.ConditionReady)
			waits := test.reason == v1.ReasonPending
			if out.Phase != test.phase || ready.Reason != test.reason || waits != strings.Contains(ready.Message, "Deployment web: does not exist") {
				t.Errorf("got phase %s and %s %q, want %s and %s", out.Phase, ready.Reason, ready.Message, test.phase, test.reason)
			}
			if got := meta.IsStatusConditionTrue(out.Conditions, v1.ConditionReconciling); got != waits {
				t.Errorf("Reconciling is %t, want %t", got, waits)
			}
		})
	}
}

func TestCausesAreTakenIntoTheVerdict(t *testing.T) {
	cause := func(effect diagnose.Effect) []diagnose.Cause {
		return []diagnose.Cause{{Reason: v1.ReasonImageNotFound, Source: "container", Message: "no image", Detail: strings.Repeat("x", 300), Hint: "push it", Effect: effect}}
	}
	well := deployment(counts{2, 2, 2, 2}, progress("NewReplicaSetAvailable"))
	moves := deployment(counts{2, 3, 1, 2}, progress("ReplicaSetUpdated"))
	late := deployment(counts{2, 3, 1, 2}, progress(deadline))
	cases := map[string]struct {
		workload *appsv1.Deployment
		causes   []diagnose.Cause
		problem  *Problem
		phase    v1.Phase
		reason   string
		begins   string
		problems string
	}{
		"what lasts is stuck":                      {moves, cause(diagnose.Lasting), nil, v1.PhaseDegraded, v1.ReasonImageNotFound, "no image: xxx", "Error ImageNotFound"},
		"what may pass is only told":               {moves, cause(diagnose.Passing), nil, v1.PhaseUpdating, v1.ReasonRollingOut, "no image: xxx", "Warning ImageNotFound"},
		"what may pass explains a deadline":        {late, cause(diagnose.Passing), nil, v1.PhaseDegraded, v1.ReasonImageNotFound, "no image: xxx", "Warning ImageNotFound"},
		"advice explains nothing":                  {moves, cause(diagnose.Advice), nil, v1.PhaseUpdating, v1.ReasonRollingOut, "1 of 2 replicas", "Warning ImageNotFound"},
		"advice leaves what runs running":          {well, cause(diagnose.Advice), nil, v1.PhaseRunning, v1.ReasonRunning, "2 of 2", "Warning ImageNotFound"},
		"what seems to be well may be held":        {well, cause(diagnose.Lasting), nil, v1.PhaseDegraded, v1.ReasonImageNotFound, "no image", "Error ImageNotFound"},
		"what the Deployment has not noticed":      {unobserved(deployment(counts{2, 2, 2, 2})), cause(diagnose.Lasting), nil, v1.PhaseUpdating, v1.ReasonRollingOut, "waiting for the rollout to begin", "Error ImageNotFound"},
		"a ReplicaSet that is refused":             {unobserved(deployment(counts{2, 2, 2, 2}, progress("ReplicaSetCreateError"))), cause(diagnose.Lasting), nil, v1.PhaseDegraded, v1.ReasonImageNotFound, "no image: xxx", "Error ImageNotFound"},
		"what blocks the operator is said instead": {moves, cause(diagnose.Lasting), &Problem{Reason: v1.ReasonTooLarge, Message: "too large", Blocked: true}, v1.PhaseDegraded, v1.ReasonTooLarge, "too large", "Error TooLarge"},
		"no cause": {late, nil, nil, v1.PhaseDegraded, v1.ReasonRolloutStalled, "0 of 2 updated", "Error RolloutStalled"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			in := state{workload: test.workload, problem: test.problem, previous: v1.PhaseUpdating}.input(t)
			in.Causes = ofDeployment(test.causes...)
			out := summarize(in)
			ready := meta.FindStatusCondition(out.Conditions, v1.ConditionReady)
			if out.Phase != test.phase || ready.Reason != test.reason || !strings.HasPrefix(ready.Message, test.begins) {
				t.Errorf("got phase %s, %s %q", out.Phase, ready.Reason, ready.Message)
			}
			stuckBehind := test.workload != well && (out.Phase == v1.PhaseDegraded && test.problem == nil)
			if strings.HasSuffix(ready.Message, previousRuns) != stuckBehind || utf8.RuneCountInString(ready.Message) > maxMessage {
				t.Errorf("got the message %q", ready.Message)
			}
			var got []string
			for _, problem := range out.Problems {
				got = append(got, string(problem.Type)+" "+problem.Reason)
				if problem.Hint == "" {
					t.Errorf("%s has no hint", problem.Reason)
				}
			}
			if text := strings.Join(got, ", "); text != test.problems {
				t.Errorf("got the problems %s, want %s", text, test.problems)
			}
		})
	}
}

func TestSummarize(t *testing.T) {
	for name, test := range states() {
		t.Run(name, func(t *testing.T) {
			in := test.input(t)
			summarizes(t, in)
			assert.Equal(t, test.input(t), in, "the input was changed")
			out := summarize(in)
			for kind, want := range map[string]bool{
				v1.ConditionReady: test.ready, v1.ConditionAvailable: test.available,
				v1.ConditionReconciling: test.reconciling, v1.ConditionStalled: test.stalled,
			} {
				if condition := meta.FindStatusCondition(out.Conditions, kind); condition == nil || condition.Status != isTrue(want) {
					t.Errorf("%s: got %v, want %s", kind, condition, isTrue(want))
				}
			}
			assert.Equal(t, test.phase, out.Phase, "phase")
			says := map[string]bool{v1.ConditionReady: true, v1.ConditionReconciling: test.reconciling, v1.ConditionStalled: test.stalled}
			for kind, says := range says {
				condition := meta.FindStatusCondition(out.Conditions, kind)
				switch {
				case !says && (condition.Reason != v1.ReasonAsExpected || condition.Message != ""):
					t.Errorf("%s is False and tells %s %q", kind, condition.Reason, condition.Message)
				case says && condition.Reason != test.reason:
					t.Errorf("reason of %s: got %s, want %s", kind, condition.Reason, test.reason)
				case says && test.message != "" && condition.Message != test.message:
					t.Errorf("message of %s: got %q, want %q", kind, condition.Message, test.message)
				}
			}
			assert.Equal(t, int64(7), out.ObservedGeneration)
			var types []string
			for _, condition := range out.Conditions { // what the API server and the contract ask of them
				types = append(types, condition.Type)
				if condition.ObservedGeneration != 7 || condition.LastTransitionTime != now || condition.Reason == "" {
					t.Errorf("got %+v", condition)
				}
				assert.NotRegexp(t, `[\n\r\t]`, condition.Message)
			}
			assert.Equal(t, ours, types)
		})
	}
}

func TestTransitionTimesChangeWithTheStatusOfTheConditionOnly(t *testing.T) {
	all := states()
	running, rolling := all["everything as desired"].input(t), all["old pods are still to end"].input(t)
	running.Now = then
	first := summarize(running)
	rolling.Previous, rolling.Now = first, now
	second := summarize(rolling)
	for kind, want := range map[string]metav1.Time{
		v1.ConditionReady: now, v1.ConditionReconciling: now,
		v1.ConditionAvailable: then, v1.ConditionStalled: then, v1.ConditionDeployed: then,
	} {
		if got := meta.FindStatusCondition(second.Conditions, kind).LastTransitionTime; got != want {
			t.Errorf("%s: got %s, want %s", kind, got, want)
		}
	}
	if meta.FindStatusCondition(first.Conditions, v1.ConditionReady).Status != metav1.ConditionTrue {
		t.Error("the previous status was changed")
	}
}

// A resource whose status was lost is written again, and conditions that others added stay.
func TestSummarizeKeepsTheConditionsOfOthers(t *testing.T) {
	in := states()["everything as desired"].input(t)
	in.Previous.Conditions = []metav1.Condition{{Type: "example.com/Audited", Status: metav1.ConditionTrue, Reason: "Audited", LastTransitionTime: then}}
	out := summarize(in)
	if len(out.Conditions) != 7 || meta.FindStatusCondition(out.Conditions, "example.com/Audited") == nil {
		t.Errorf("got %v", out.Conditions)
	}
}

func TestDeployed(t *testing.T) {
	blocked := &Problem{Reason: v1.ReasonResourceExists, Message: "in the way", Blocked: true}
	record := func(revision int, status, digest string) *livestate.Record {
		return &livestate.Record{Revision: revision, Status: status, Digest: digest, Chart: "1.2.3"}
	}
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	cases := map[string]struct {
		record  *livestate.Record
		problem *Problem
		status  metav1.ConditionStatus
		reason  string
		message string
	}{
		"no release yet":            {nil, nil, no, v1.ReasonPending, "no release yet"},
		"no release, and a problem": {nil, blocked, no, v1.ReasonResourceExists, "in the way"},
		"the first release": {
			record(1, "deployed", "digest"), nil, yes, v1.ReasonInstalled, "release 1 of chart version 1.2.3 is deployed",
		},
		"a later release": {
			record(9, "deployed", "digest"), nil, yes, v1.ReasonUpgraded, "release 9 of chart version 1.2.3 is deployed",
		},
		"the wanted release is deployed, and a problem": {
			record(2, "deployed", "digest"), blocked, yes, v1.ReasonUpgraded, "release 2 of chart version 1.2.3 is deployed",
		},
		"an earlier release is deployed, and a problem": {
			record(2, "deployed", "old"), blocked, no, v1.ReasonResourceExists, "in the way",
		},
		"the release is unfinished": {
			record(2, "pending-upgrade", "digest"), nil, no, v1.ReasonPending, "release 2 is pending-upgrade",
		},
		"the release failed, and a problem": {
			record(2, "failed", "digest"), blocked, no, v1.ReasonResourceExists, "in the way",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{Resource: resource(), Previous: &v1.AppServiceStatus{Release: &v1.ReleaseStatus{Revision: 99}}, Snapshot: snapshot(t), Digest: "digest", Problem: test.problem, Now: now}
			in.Snapshot.Record = test.record
			out := summarize(in)
			condition := meta.FindStatusCondition(out.Conditions, v1.ConditionDeployed)
			if condition.Status != test.status || condition.Reason != test.reason || condition.Message != test.message {
				t.Errorf("got %s %s %q, want %s %s %q", condition.Status, condition.Reason, condition.Message, test.status, test.reason, test.message)
			}
			var want *v1.ReleaseStatus
			if r := test.record; r != nil {
				want = &v1.ReleaseStatus{Revision: r.Revision, ChartVersion: r.Chart, Digest: r.Digest}
			}
			assert.Equal(t, want, out.Release)
		})
	}
}

func TestCounters(t *testing.T) {
	without := deployment(counts{2, 3, 1, 2})
	without.Spec.Replicas = nil
	stale := v1.AppServiceStatus{Replicas: 9, UpdatedReplicas: 9, ReadyReplicas: 9, AvailableReplicas: 9, UnavailableReplicas: 9, Readiness: "9/9", Selector: "old", Image: "old"}
	cases := map[string]struct {
		workload *appsv1.Deployment
		want     v1.AppServiceStatus
	}{
		"no Deployment": {nil, v1.AppServiceStatus{}},
		"a Deployment": {deployment(counts{2, 3, 1, 2}), v1.AppServiceStatus{
			Replicas: 3, UpdatedReplicas: 1, ReadyReplicas: 2, AvailableReplicas: 2, Readiness: "2/2", Selector: "app=web", Image: "nginx:1.27",
		}},
		"a Deployment that leaves replicas out": {without, v1.AppServiceStatus{
			Replicas: 3, UpdatedReplicas: 1, ReadyReplicas: 2, AvailableReplicas: 2, Readiness: "2/1", Selector: "app=web", Image: "nginx:1.27",
		}},
		"a Deployment of size 0": {deployment(counts{}), v1.AppServiceStatus{Readiness: "0/0", Selector: "app=web", Image: "nginx:1.27"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := stale
			var main client.Object
			if test.workload != nil {
				main = test.workload
			}
			counters(&got, main)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestTheWorkloadIsTheDeploymentOfTheNameElseTheOnlyOne(t *testing.T) {
	named := func(name string) *appsv1.Deployment {
		d := deployment(counts{1, 1, 1, 1})
		d.Name = name
		return d
	}
	broken := snapshot(t)
	broken.Objects[kube.Key{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Name: "web"}] = &unstructured.Unstructured{Object: map[string]any{"spec": "broken"}}
	cases := map[string]struct {
		snapshot *livestate.Snapshot
		want     string
	}{
		"none":                             {snapshot(t), ""},
		"the one of the name":              {snapshot(t, named("web")), "web"},
		"the one of the name among others": {snapshot(t, named("api"), named("web"), named("worker")), "web"},
		"the only one":                     {snapshot(t, named("web-server")), "web-server"},
		"one of several others":            {snapshot(t, named("api"), named("worker")), ""},
		"one that is none":                 {broken, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			for range 20 { // a map is gone through in every order
				got := ""
				if main := mainObject(resource(), test.snapshot); main != nil {
					got = main.GetName()
				}
				if got != test.want {
					t.Fatalf("got %q, want %q", got, test.want)
				}
			}
		})
	}
}

func TestMessagesOfTheDeploymentAndOfProblemsAreCut(t *testing.T) {
	long := strings.Repeat("pods \"web-1\" is forbidden:\n", 100)
	in := Input{
		Resource: resource(), Previous: &v1.AppServiceStatus{}, Now: now, Digest: "digest",
		Snapshot: snapshot(t, deployment(counts{2, 0, 0, 0}, refusedPods(long))),
	}
	for name, problem := range map[string]*Problem{"of the Deployment": nil, "of a problem": {Reason: v1.ReasonInstallFailed, Message: long, Blocked: true}} {
		t.Run(name, func(t *testing.T) {
			in.Problem = problem
			for _, condition := range summarize(in).Conditions {
				if utf8.RuneCountInString(condition.Message) > maxMessage || strings.Contains(condition.Message, "\n") {
					t.Errorf("%s: %q", condition.Type, condition.Message)
				}
			}
		})
	}
}

// Every combination of numbers that a Deployment may have gives a status that does not contradict itself.
func TestNoStatusContradictsItself(t *testing.T) {
	conditions := map[string][]appsv1.DeploymentCondition{
		"nothing said": nil, "in progress": {progress("ReplicaSetUpdated")}, "past the deadline": {progress(deadline)}, "no quota": {refusedPods("exceeded quota")},
	}
	for want := range int32(3) {
		for all := range int32(4) {
			for updated := range all + 1 {
				for available := range all + 1 {
					for said, extra := range conditions {
						d := deployment(counts{want, all, updated, available}, extra...)
						name := fmt.Sprintf("%d wanted, %d there, %d updated, %d available, %s", want, all, updated, available, said)
						in := state{workload: d, previous: v1.PhaseUpdating}.input(t)
						out := summarize(in)
						is := func(kind string) bool { return meta.IsStatusConditionTrue(out.Conditions, kind) }
						if one := count(is(v1.ConditionReady), is(v1.ConditionReconciling), is(v1.ConditionStalled)); one != 1 {
							t.Errorf("%s: %d of Ready, Reconciling and Stalled are True, want 1", name, one)
						}
						if is(v1.ConditionReady) && (all != want || updated != want || available != want) {
							t.Errorf("%s: it is Ready", name)
						}
						if is(v1.ConditionReady) != (out.Phase == v1.PhaseRunning) {
							t.Errorf("%s: Ready is %t and the phase %s", name, is(v1.ConditionReady), out.Phase)
						}
						message := meta.FindStatusCondition(out.Conditions, v1.ConditionReady).Message
						if strings.Contains(message, "previous version") && all == updated {
							t.Errorf("%s: there is no previous version: %s", name, message)
						}
					}
				}
			}
		}
	}
}

func count(flags ...bool) (set int) {
	for _, flag := range flags {
		if flag {
			set++
		}
	}
	return set
}

// summarize is Summarize without the time at which it has to be done again.
func summarize(in Input) *v1.AppServiceStatus {
	status, _ := Summarize(in)
	return status
}

// ofDeployment makes causes those of the Deployment web.
func ofDeployment(causes ...diagnose.Cause) map[kube.Key][]diagnose.Cause {
	return map[kube.Key][]diagnose.Cause{deploymentKey("web"): causes}
}

// Objects whose record is lost still belong to a release: nobody may take them for what is left of an install that was refused.
// A status that is not Ready tells that its release was, as long as that is the newest.
func TestAReleaseThatWasReady(t *testing.T) {
	said := func(revision int, ready metav1.ConditionStatus, was bool) *v1.AppServiceStatus {
		return &v1.AppServiceStatus{Release: &v1.ReleaseStatus{Revision: revision, WasReady: was},
			Conditions: []metav1.Condition{{Type: v1.ConditionReady, Status: ready}}}
	}
	for name, test := range map[string]struct {
		before *v1.AppServiceStatus
		ready  bool
		want   bool
	}{
		"it is not Ready any more":  {said(2, metav1.ConditionTrue, false), false, true},
		"it was before":             {said(2, metav1.ConditionFalse, true), false, true},
		"it is again":               {said(2, metav1.ConditionFalse, true), true, false},
		"it never was":              {said(2, metav1.ConditionFalse, false), false, false},
		"the release before it was": {said(1, metav1.ConditionTrue, false), false, false},
		"nothing was said":          {&v1.AppServiceStatus{}, false, false},
	} {
		in := Input{Resource: resource(), Previous: test.before, Snapshot: snapshot(t, deployment(counts{1, 1, 1, 1}, progress("NewReplicaSetAvailable"))), Now: now}
		in.Snapshot.Record = &livestate.Record{Revision: 2}
		if !test.ready {
			in.Problem = &Problem{Reason: v1.ReasonInvalidSpec, Message: "wrong", Blocked: true}
		}
		out, _ := Summarize(in)
		if meta.IsStatusConditionTrue(out.Conditions, v1.ConditionReady) != test.ready || out.Release.WasReady != test.want {
			t.Errorf("%s: got %+v and %+v", name, out.Release, out.Conditions)
		}
	}
}

func TestAReleaseIsSpokenOfUntilItsObjectsAreGone(t *testing.T) {
	for name, test := range map[string]struct {
		snapshot *livestate.Snapshot
		spoken   bool
	}{
		"the record is lost": {snapshot(t, deployment(counts{1, 1, 1, 1})), true},
		"so are the objects": {snapshot(t), false},
	} {
		t.Run(name, func(t *testing.T) {
			test.snapshot.Record = nil
			out := summarize(Input{Resource: resource(), Previous: &v1.AppServiceStatus{Release: &v1.ReleaseStatus{Revision: 9}}, Snapshot: test.snapshot, Now: now})
			assert.Equal(t, test.spoken, out.Release != nil, "the status speaks of a release")
		})
	}
}

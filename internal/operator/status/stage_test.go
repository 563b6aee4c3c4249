package status

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// task is the Job of the stage before, which has a condition, or runs.
func task(condition batchv1.JobConditionType) *batchv1.Job {
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web-release-1"},
		Status:     batchv1.JobStatus{Active: 1},
	}
	if condition != "" {
		job.Status = batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: condition, Status: corev1.ConditionTrue, Message: "it exited with 3"}}}
	}
	return job
}

// Ready speaks of the stage before as long as that is waited for, and whether the previous version serves; it is never True.
func TestAReleaseThatWaitsForTheStageBefore(t *testing.T) {
	well := deployment(counts{2, 2, 2, 2}, progress("NewReplicaSetAvailable"))
	down := deployment(counts{2, 2, 2, 0}, progress("NewReplicaSetAvailable"))
	const named = "stage before: Job web-release-1"
	for name, test := range map[string]struct {
		job            *batchv1.Job
		main           client.Object
		problem        *Problem
		phase          v1.Phase
		reason, begins string
		kept           bool
	}{
		"it runs for the first version":        {task(""), nil, nil, v1.PhaseUpdating, "", named, false},
		"it runs for a new version":            {task(""), well, nil, v1.PhaseUpdating, "", named, false},
		"it is complete, the rest follows":     {task(batchv1.JobComplete), well, nil, v1.PhaseUpdating, v1.ReasonPending, "stage before: ready, the rest follows", false},
		"it runs, the version before is stuck": {task(""), deployment(counts{2, 2, 1, 1}, progress("ProgressDeadlineExceeded")), nil, v1.PhaseUpdating, "", named, false},
		"it failed, the version before is up":  {task(batchv1.JobFailed), well, nil, v1.PhaseDegraded, v1.ReasonJobFailed, named, true},
		"it failed, and nothing serves":        {task(batchv1.JobFailed), down, nil, v1.PhaseFailed, v1.ReasonJobFailed, named, false},
		"it failed for the first version":      {task(batchv1.JobFailed), nil, nil, v1.PhaseFailed, v1.ReasonJobFailed, named, false},
		"the release is refused":               {task(""), well, &Problem{Reason: v1.ReasonTooLarge, Message: "too large", Blocked: true}, v1.PhaseDegraded, v1.ReasonTooLarge, "too large", false},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Resource: resource(), Previous: &v1.AppServiceStatus{Phase: v1.PhaseUpdating}, Digest: "digest", Now: now, Problem: test.problem, Stage: &Stage{Name: "before", Objects: 1, New: true}}
			in.Snapshot, in.Rendered = snapshot(t, test.job), []kube.Key{kube.KeyOf(test.job)}
			if test.main != nil {
				in.Snapshot, in.Rendered = snapshot(t, test.job, test.main), append(in.Rendered, kube.KeyOf(test.main))
			}
			out := summarize(in)
			ready := meta.FindStatusCondition(out.Conditions, v1.ConditionReady)
			assert.Equal(t, metav1.ConditionFalse, ready.Status)
			assert.Equal(t, test.phase, out.Phase)
			if test.reason != "" {
				assert.Equal(t, test.reason, ready.Reason)
			}
			assert.True(t, strings.HasPrefix(ready.Message, test.begins), ready.Message)
			assert.Equal(t, test.kept, strings.HasSuffix(ready.Message, previousRelease), ready.Message)
		})
	}
}

// A spec that was never deployed is not called deployed while the release before it is kept; a Job that is only asked to run again is no new release.
func TestDeployedWhileTheStageBeforeIsWaitedFor(t *testing.T) {
	for name, test := range map[string]struct {
		stage   Stage
		status  metav1.ConditionStatus
		message string
	}{
		"a new release":    {Stage{Name: "before", New: true}, metav1.ConditionFalse, "release 2 is kept until the stage before of the next one is ready"},
		"the same release": {Stage{Name: "before"}, metav1.ConditionTrue, "release 2 of chart version 1.2.3 is deployed"},
	} {
		in := Input{Resource: resource(), Previous: &v1.AppServiceStatus{}, Snapshot: snapshot(t), Digest: "digest", Now: now, Stage: &test.stage}
		condition := meta.FindStatusCondition(summarize(in).Conditions, v1.ConditionDeployed)
		if condition.Status != test.status || condition.Message != test.message {
			t.Errorf("%s: got %s %q", name, condition.Status, condition.Message)
		}
	}
}

// A Job that was skipped does not exist, and is waited for by nobody.
func TestASkippedJobHoldsNothing(t *testing.T) {
	well := deployment(counts{2, 2, 2, 2}, progress("NewReplicaSetAvailable"))
	in := Input{Resource: resource(), Snapshot: snapshot(t, well), Digest: "digest", Now: now, Rendered: []kube.Key{kube.KeyOf(task("")), kube.KeyOf(well)}}
	for result, want := range map[v1.RunResult]metav1.ConditionStatus{v1.RunSkipped: metav1.ConditionTrue, v1.RunComplete: metav1.ConditionTrue, v1.RunFailed: metav1.ConditionFalse} {
		in.Previous = &v1.AppServiceStatus{Runs: []v1.RunStatus{{Job: "web-release-1", Result: result}}}
		if ready := meta.FindStatusCondition(summarize(in).Conditions, v1.ConditionReady); ready.Status != want {
			t.Errorf("%s: got %+v", result, ready)
		}
	}
}

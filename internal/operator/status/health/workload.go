package health

import (
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// rollout returns the progress of a workload that runs pods all the time, as `kubectl rollout status` does.
func rollout(object client.Object, facts Facts) State {
	workload, _ := diagnose.WorkloadOf(object)
	switch {
	case workload.Refused && !workload.Noticed: // the cause says why
		return State{Verdict: Stuck, Reason: v1.ReasonReplicaFailure, Message: "pods cannot be created"}
	case !workload.Noticed:
		return Unnoticed
	}
	want, have := workload.Desired, workload.Counts
	switch object := object.(type) {
	case *appsv1.Deployment:
		return deployment(object, replicas(want, have))
	case *appsv1.StatefulSet:
		have.Updated = min(want, have.Updated+workload.Kept) // of an earlier version by design
		return statefulSet(object, replicas(want, have), want, facts)
	case *appsv1.DaemonSet:
		if workload.ByHand {
			have.Updated = have.All
		}
		state := replicas(want, have)
		if state.Reason == v1.ReasonScaledToZero {
			state.Message = "no node matches this DaemonSet"
		}
		return state
	}
	have.Updated = have.All // a ReplicaSet replaces no pods
	return replicas(want, have)
}

// deployment returns the state of a Deployment whose replicas are in a state.
func deployment(d *appsv1.Deployment, state State) State {
	have := d.Status
	if failure := DeploymentCondition(d, appsv1.DeploymentReplicaFailure); failure != nil &&
		failure.Status == corev1.ConditionTrue {
		return State{Verdict: Stuck, Reason: v1.ReasonReplicaFailure, Message: "pods cannot be created: " + failure.Message}
	}
	progressing := DeploymentCondition(d, appsv1.DeploymentProgressing)
	switch {
	case state.Verdict != Waiting:
	case d.Spec.Paused && have.UpdatedReplicas < max(1, have.Replicas): // while paused it still scales
		state.Verdict, state.Reason = Stuck, v1.ReasonRolloutPaused
		state.Message = fmt.Sprintf("the rollout is paused, %s: kubectl rollout resume deployment/%s", state.Message, d.Name)
	case progressing != nil && progressing.Reason == "ProgressDeadlineExceeded":
		state.Verdict, state.Reason = Stuck, v1.ReasonRolloutStalled
		want := ptr.Deref(d.Spec.Replicas, 1)
		state.Message = fmt.Sprintf("%d of %d updated %s became available before the progress deadline",
			max(0, have.AvailableReplicas-(have.Replicas-have.UpdatedReplicas)), want, text.Agree(want, "replica", "replicas"))
	}
	return state
}

// statefulSet returns the state of a StatefulSet whose replicas are in a state. One that sets how long each replica
// may take is stuck if its rollout takes longer.
func statefulSet(s *appsv1.StatefulSet, state State, want int32, facts Facts) State {
	have := s.Status
	deadline, err := strconv.ParseInt(s.Annotations[v1.AnnotationProgressDeadline], 10, 32)
	// the revisions differ until a rollout is complete
	if state.Verdict != Waiting || err != nil || have.CurrentRevision == have.UpdateRevision {
		return state
	}
	late := state.overdue(s, facts, time.Duration(deadline)*time.Second*time.Duration(max(1, want)))
	if late.Verdict == Stuck {
		late.Reason = v1.ReasonRolloutStalled
		late.Message = fmt.Sprintf("%s after the progress deadline of %d s for each",
			OfReplicas(have.UpdatedReplicas, want, "up to date"), deadline)
	}
	return late
}

// Unnoticed is the state of a workload whose controller has not observed its spec.
var Unnoticed = State{Verdict: Waiting, Reason: v1.ReasonRollingOut, Message: "waiting for the rollout to begin"}

// replicas compares the desired number of pods with the existing ones.
func replicas(want int32, have diagnose.Counts) State {
	state := State{Verdict: Waiting, Reason: v1.ReasonRollingOut}
	switch {
	case have.All == want && have.Updated == want && have.Available == want && want == 0:
		return State{Reason: v1.ReasonScaledToZero, Message: "scaled to zero as desired"}
	case have.All == want && have.Updated == want && have.Available == want:
		return State{Reason: v1.ReasonRunning,
			Message: OfReplicas(have.Available, want, "up to date and available")}
	case have.Updated < want:
		state.Message = OfReplicas(have.Updated, want, "up to date")
	case have.All > have.Updated:
		state.Message = fmt.Sprintf("%d old %s pending termination", have.All-have.Updated,
			text.Agree(have.All-have.Updated, "replica is", "replicas are"))
	case have.All > want:
		state.Message = fmt.Sprintf("%d %s pending termination", have.All-want,
			text.Agree(have.All-want, "replica is", "replicas are"))
	default:
		state.Message = OfReplicas(have.Available, want, "available")
	}
	return state
}

// OfReplicas says how many replicas of those that are wanted are in a state.
func OfReplicas(have, want int32, state string) string {
	return fmt.Sprintf("%d of %d %s %s", have, want, text.Agree(want, "replica is", "replicas are"), state)
}

// job returns the progress of a Job: it is ready when it is complete.
func job(j *batchv1.Job) State {
	for _, condition := range j.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			return State{Reason: v1.ReasonComplete, Message: "complete"}
		case batchv1.JobFailed:
			return State{Verdict: Stuck, Reason: v1.ReasonJobFailed,
				Message: fmt.Sprintf("failed: %s: %s", condition.Reason, condition.Message)}
		}
	}
	if ptr.Deref(j.Spec.Suspend, false) { // the condition may stay after it has run
		return State{Verdict: Waiting, Reason: v1.ReasonRollingOut, Message: "suspended"}
	}
	return State{Verdict: Waiting, Reason: v1.ReasonRollingOut,
		Message: fmt.Sprintf("%d %s, %d of %d have succeeded", j.Status.Active,
			text.Agree(j.Status.Active, "pod runs", "pods run"), j.Status.Succeeded, ptr.Deref(j.Spec.Completions, 1))}
}

// Ended returns the state of a Job that is gone, by the result of its run.
func Ended(run *v1.RunStatus) State {
	switch run.Result {
	case v1.RunComplete:
		return State{Reason: v1.ReasonComplete, Message: "complete"}
	case v1.RunSkipped:
		return State{Reason: v1.ReasonComplete, Message: "skipped, as annotation " + v1.AnnotationSkipTask + " requests"}
	case v1.RunFailed:
		return State{Verdict: Stuck, Reason: v1.ReasonJobFailed, Message: "Job " + run.Job + " failed"}
	}
	return State{Verdict: Stuck, Reason: v1.ReasonRunUnknown,
		Message: "Job " + run.Job + " is gone and its result is unknown: a Job does not run again unasked"}
}

// cronJob returns whether the last finished run succeeded; there may have been none.
func cronJob(c *batchv1.CronJob) State {
	last := c.Status.LastScheduleTime
	switch {
	case ptr.Deref(c.Spec.Suspend, false), last == nil, len(c.Status.Active) > 0:
		return State{}
	case c.Status.LastSuccessfulTime == nil || c.Status.LastSuccessfulTime.Before(last):
		return State{Verdict: Stuck, Reason: v1.ReasonJobFailed, Message: "the last run failed"}
	}
	return State{}
}

// DeploymentCondition returns a condition of a Deployment; nil if it has none of that type.
func DeploymentCondition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == kind {
			return &d.Status.Conditions[i]
		}
	}
	return nil
}

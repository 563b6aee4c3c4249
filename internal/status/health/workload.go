package health

import (
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Deployment returns the progress of a Deployment's rollout, as `kubectl rollout status` does.
func Deployment(d *appsv1.Deployment) State {
	want, have := ptr.Deref(d.Spec.Replicas, 1), d.Status
	if have.ObservedGeneration < d.Generation {
		return Unnoticed
	}
	if failure := DeploymentCondition(d, appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		return State{Verdict: Stuck, Reason: v1.ReasonReplicaFailure, Message: "pods cannot be created: " + failure.Message}
	}
	state := replicas(want, counts{have.Replicas, have.UpdatedReplicas, have.AvailableReplicas})
	progressing := DeploymentCondition(d, appsv1.DeploymentProgressing)
	switch {
	case state.Verdict != Waiting:
	case d.Spec.Paused && have.UpdatedReplicas < max(1, have.Replicas): // while paused it still scales
		state.Verdict, state.Reason = Stuck, v1.ReasonRolloutPaused
		state.Message = fmt.Sprintf("the rollout is paused, %s: kubectl rollout resume deployment/%s", state.Message, d.Name)
	case progressing != nil && progressing.Reason == "ProgressDeadlineExceeded":
		state.Verdict, state.Reason = Stuck, v1.ReasonRolloutStalled
		state.Message = fmt.Sprintf("%d of %d updated replicas became available before the progress deadline",
			max(0, have.AvailableReplicas-(have.Replicas-have.UpdatedReplicas)), want)
	}
	return state
}

// statefulSet returns the progress of a StatefulSet's rollout. Pods below the partition, and all pods if they are replaced on deletion
// only, may be of an earlier version by design. One that sets how long each replica may take is stuck if its rollout takes longer.
func statefulSet(s *appsv1.StatefulSet, facts Facts) State {
	want, have := ptr.Deref(s.Spec.Replicas, 1), s.Status
	if have.ObservedGeneration < s.Generation {
		return Unnoticed
	}
	state := replicas(want, counts{have.Replicas, min(want, have.UpdatedReplicas+earlierByDesign(s)), have.AvailableReplicas})
	deadline, err := strconv.ParseInt(s.Annotations[v1.AnnotationProgressDeadline], 10, 32)
	if state.Verdict != Waiting || err != nil || have.CurrentRevision == have.UpdateRevision { // the revisions differ until a rollout is complete
		return state
	}
	late := state.overdue(s, facts, time.Duration(deadline)*time.Second*time.Duration(max(1, want)))
	if late.Verdict == Stuck {
		late.Reason = v1.ReasonRolloutStalled
		late.Message = fmt.Sprintf("%d of %d replicas are up to date after the progress deadline of %d s for each", have.UpdatedReplicas, want, deadline)
	}
	return late
}

// earlierByDesign returns how many replicas of a StatefulSet keep an earlier revision.
func earlierByDesign(s *appsv1.StatefulSet) int32 {
	want := ptr.Deref(s.Spec.Replicas, 1)
	switch rolling := s.Spec.UpdateStrategy.RollingUpdate; {
	case s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return want
	case rolling != nil:
		return min(want, ptr.Deref(rolling.Partition, 0))
	}
	return 0
}

// daemonSet returns the progress of a DaemonSet's rollout.
func daemonSet(d *appsv1.DaemonSet) State {
	have := d.Status
	if have.ObservedGeneration < d.Generation {
		return Unnoticed
	}
	updated := have.UpdatedNumberScheduled
	if d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		updated = have.CurrentNumberScheduled
	}
	state := replicas(have.DesiredNumberScheduled, counts{have.CurrentNumberScheduled, updated, have.NumberAvailable})
	if state.Reason == v1.ReasonScaledToZero {
		state.Message = "no node is to run a pod of it"
	}
	return state
}

// replicaSet returns the progress of a ReplicaSet. It replaces no pods.
func replicaSet(s *appsv1.ReplicaSet) State {
	have := s.Status
	if have.ObservedGeneration < s.Generation {
		return Unnoticed
	}
	return replicas(ptr.Deref(s.Spec.Replicas, 1), counts{have.Replicas, have.Replicas, have.AvailableReplicas})
}

// Unnoticed is the state of a workload whose controller has not observed its spec.
var Unnoticed = State{Verdict: Waiting, Reason: v1.ReasonRollingOut, Message: "waiting for the rollout to begin"}

// counts are the numbers of all, of the updated and of the available pods.
type counts struct{ all, updated, available int32 }

// replicas compares the desired number of pods with the existing ones.
func replicas(want int32, have counts) State {
	state := State{Verdict: Waiting, Reason: v1.ReasonRollingOut}
	switch {
	case have.all == want && have.updated == want && have.available == want && want == 0:
		return State{Reason: v1.ReasonScaledToZero, Message: "scaled to zero as desired"}
	case have.all == want && have.updated == want && have.available == want:
		return State{Reason: v1.ReasonRunning, Message: fmt.Sprintf("%d of %d replicas are up to date and available", have.available, want)}
	case have.updated < want:
		state.Message = fmt.Sprintf("%d of %d replicas are up to date", have.updated, want)
	case have.all > have.updated:
		state.Message = fmt.Sprintf("%d old replicas are still to end", have.all-have.updated)
	case have.all > want:
		state.Message = fmt.Sprintf("%d replicas are still to end", have.all-want)
	default:
		state.Message = fmt.Sprintf("%d of %d replicas are available", have.available, want)
	}
	return state
}

// job returns the progress of a Job: it is ready when it is complete.
func job(j *batchv1.Job) State {
	for _, condition := range j.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			return State{Reason: v1.ReasonComplete, Message: "it is complete"}
		case batchv1.JobFailed:
			return State{Verdict: Stuck, Reason: v1.ReasonJobFailed, Message: fmt.Sprintf("it failed: %s: %s", condition.Reason, condition.Message)}
		}
	}
	if ptr.Deref(j.Spec.Suspend, false) { // the condition may stay after it has run
		return State{Verdict: Waiting, Reason: v1.ReasonRollingOut, Message: "it is suspended"}
	}
	return State{Verdict: Waiting, Reason: v1.ReasonRollingOut, Message: fmt.Sprintf("%d pods run, %d of %d have succeeded",
		j.Status.Active, j.Status.Succeeded, ptr.Deref(j.Spec.Completions, 1))}
}

// Ended returns the state of a Job that is gone, by the result of its run.
func Ended(run *v1.RunStatus) State {
	switch run.Result {
	case v1.RunComplete:
		return State{Reason: v1.ReasonComplete, Message: "it is complete"}
	case v1.RunFailed:
		return State{Verdict: Stuck, Reason: v1.ReasonJobFailed, Message: "Job " + run.Job + " failed"}
	}
	return State{Verdict: Stuck, Reason: v1.ReasonRunUnknown, Message: "Job " + run.Job + " is gone, and how it ended is not known: it does not run again unasked"}
}

// cronJob returns whether the last finished run succeeded; there may have been none.
func cronJob(c *batchv1.CronJob) State {
	last := c.Status.LastScheduleTime
	switch {
	case ptr.Deref(c.Spec.Suspend, false), last == nil, len(c.Status.Active) > 0:
		return State{}
	case c.Status.LastSuccessfulTime == nil || c.Status.LastSuccessfulTime.Before(last):
		return State{Verdict: Stuck, Reason: v1.ReasonJobFailed, Message: "its last run did not succeed"}
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

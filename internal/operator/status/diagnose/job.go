package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/reason"
)

// job returns a workload whose pods are meant to end. The Job itself decides how often they are retried; once it has
// failed, nothing is.
func job(j *batchv1.Job) *Workload {
	w, have := workload(batchv1.GroupName, "Job", j, j.Spec.Selector, &j.Spec.Template), j.Status
	suspended, started := ptr.Deref(j.Spec.Suspend, false), have.StartTime != nil
	failed, complete := jobCondition(j, batchv1.JobFailed), jobCondition(j, batchv1.JobComplete)
	ready := ptr.Deref(have.Ready, 0)
	w.Noticed = started || suspended || failed != nil || complete != nil
	w.Over = failed != nil
	w.Settled = complete != nil || failed == nil && (suspended || have.Active > 0 && ready >= have.Active)
	w.Counts = Counts{have.Active, have.Failed, ready, have.Succeeded}
	short := failed == nil && complete == nil && have.Active == 0
	w.missesPods(short)
	w.cast = func(f *Findings) *cast {
		pods := f.controlled(j.UID)
		if !short {
			return tries(pods)
		}
		return tries(pods).awaiting(pods)
	}
	w.refusal = w.refusedByEvent
	w.failure = func(f *Findings) []Cause {
		if failed == nil {
			return nil
		}
		cause := Cause{
			Reason: v1.ReasonJobFailed, Source: w.String(), Effect: Lasting,
			Message: fmt.Sprintf("Job %s failed%s", j.Name, failureWords(j, failed)),
			Hint:    fmt.Sprintf("see kubectl logs job/%s; once that is corrected: %s", j.Name, reason.RunAgain),
		}
		cause.Detail = cmp.Or(lastTry(*f, f.controlled(j.UID)), f.known(cause), Brief(failed.Message))
		return []Cause{cause}
	}
	return w
}

func jobCondition(j *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range j.Status.Conditions {
		if condition := &j.Status.Conditions[i]; condition.Type == kind && condition.Status == corev1.ConditionTrue {
			return condition
		}
	}
	return nil
}

// failureWords describes why a Job failed, with the reason from its condition.
func failureWords(j *batchv1.Job, failed *batchv1.JobCondition) string {
	plain := ""
	switch failed.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		plain = " after all attempts"
	case batchv1.JobReasonDeadlineExceeded:
		plain = fmt.Sprintf(" because it was not done within %d s", ptr.Deref(j.Spec.ActiveDeadlineSeconds, 0))
	case batchv1.JobReasonPodFailurePolicy:
		plain = " by its pod failure policy"
	case batchv1.JobReasonFailedIndexes, batchv1.JobReasonMaxFailedIndexesExceeded:
		plain = " after all attempts of indexes " + ptr.Deref(j.Status.FailedIndexes, "?")
	}
	if failed.Reason == "" {
		return plain
	}
	return fmt.Sprintf("%s (%s)", plain, failed.Reason)
}

// cronJob returns a workload with the pods of the Job that its schedule created last. Only the name of that is needed,
// which follows from the time of the schedule: reading Jobs would take another right. A Job that was created from it by
// hand does not count.
func cronJob(c *batchv1.CronJob) *Workload {
	w, have := workload(batchv1.GroupName, "CronJob", c, nil, &c.Spec.JobTemplate.Spec.Template), c.Status
	last := lastJob(c)
	w.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.JobNameLabel: last}}
	active, suspended := len(have.Active) > 0, ptr.Deref(c.Spec.Suspend, false)
	failed := last != "" && !active && !suspended &&
		(have.LastSuccessfulTime == nil || have.LastSuccessfulTime.Before(have.LastScheduleTime))
	w.Settled, w.Over = !active && !failed, failed
	if last != "" {
		minute := int32(have.LastScheduleTime.Unix() / 60)               //nolint:gosec // enough for 4,000 years
		w.Counts = Counts{All: int32(len(have.Active)), Updated: minute} //nolint:gosec // there are few
	}
	run := func(f *Findings) []*corev1.Pod {
		return f.podsThat(func(pod *corev1.Pod) bool {
			controller := metav1.GetControllerOfNoCopy(pod)
			return controller != nil && controller.Kind == "Job" && controller.Name == last
		})
	}
	w.cast = func(f *Findings) *cast { return tries(run(f)) }
	w.refusal = func(*Findings) (string, bool) { return "", false }
	w.failure = func(f *Findings) []Cause {
		if !failed {
			return nil
		}
		cause := Cause{
			Reason: v1.ReasonJobFailed, Source: w.String(), Effect: Lasting,
			Message: fmt.Sprintf("the last run of CronJob %s failed (Job %s)", c.Name, last),
			Hint:    fmt.Sprintf("see kubectl describe job/%s and kubectl logs job/%s; the status is updated after the next run", last, last),
		}
		cause.Detail = cmp.Or(lastTry(*f, run(f)), f.known(cause))
		return []Cause{cause}
	}
	return w
}

// lastJob returns the name of the Job for the last scheduled time; empty if there was none.
func lastJob(c *batchv1.CronJob) string {
	if c.Status.LastScheduleTime == nil {
		return ""
	}
	return fmt.Sprintf("%s-%d", c.Name, c.Status.LastScheduleTime.Unix()/60)
}

// tries returns the pods of a Job: those that are running, and the one that failed last.
func tries(pods []*corev1.Pod) *cast {
	out := byVersion(pods, all)
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodFailed && (out.ended == nil || created(pod, out.ended) > 0) {
			out.ended = pod
		}
	}
	return out
}

// created compares pods by creation time.
func created(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// triedAgain returns the cause for a failed pod of a Job that is not over; none if a running pod shows a cause.
func triedAgain(f Findings, c *cast) []Cause {
	if c.ended == nil {
		return nil
	}
	cause, found := final(f, c.ended)
	if !found {
		return nil
	}
	cause.Message, cause.Effect, cause.pods = cause.Message+", and is retried", Passing, 1
	return []Cause{cause}
}

// lastTry returns the last output of the newest pod that has any; empty if none has.
func lastTry(f Findings, pods []*corev1.Pod) string {
	pods = slices.SortedFunc(slices.Values(pods), created)
	for _, pod := range slices.Backward(pods) {
		if cause, found := final(f, pod); found {
			return cause.Text()
		}
	}
	return ""
}

// known returns what the previous look found about a failure, or else about what led to it; empty if nothing. When a
// Job fails whose containers are restarted in their pods, these are deleted.
func (f *Findings) known(failure Cause) string {
	for _, cause := range f.Known {
		switch {
		case cause.Message == failure.Message:
			return cause.Detail
		case cause.Reason != failure.Reason && cause.Effect != Advice:
			return cause.Text()
		}
	}
	return ""
}

// final returns why a pod failed, or why its containers did before.
func final(f Findings, pod *corev1.Pod) (Cause, bool) {
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" { // evicted, or its own deadline is over
		return Cause{Reason: v1.ReasonContainerCrashed, Source: "pod", Message: "the pod was terminated: " + pod.Status.Reason,
			Detail: Brief(pod.Status.Message)}, true
	}
	for _, container := range containers(pod) {
		for _, state := range []corev1.ContainerState{container.status.State, container.status.LastTerminationState} {
			if ended := state.Terminated; ended != nil && ended.ExitCode != 0 {
				return crashed(f, pod, container, ended), true
			}
		}
	}
	return Cause{}, false
}

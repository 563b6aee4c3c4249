package diagnose

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// jobOf is a Job "run-1" that was started.
func jobOf(status batchv1.JobStatus) *batchv1.Job {
	status.StartTime = ptr.To(metav1.NewTime(noon))
	return &batchv1.Job{ObjectMeta: meta1("run-1"), Spec: batchv1.JobSpec{ActiveDeadlineSeconds: ptr.To[int64](60)}, Status: status}
}

func concluded(kind batchv1.JobConditionType, reason string) []batchv1.JobCondition {
	return []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: "it is over"}}
}

// cronJobOf is a CronJob "run" whose schedule was met and which succeeded so many minutes after the epoch; not at all if negative.
func cronJobOf(scheduled, succeeded int64, active bool) *batchv1.CronJob {
	c := &batchv1.CronJob{ObjectMeta: meta1("run")}
	if scheduled >= 0 {
		c.Status.LastScheduleTime = ptr.To(metav1.Unix(scheduled*60, 0))
	}
	if succeeded >= 0 {
		c.Status.LastSuccessfulTime = ptr.To(metav1.Unix(succeeded*60, 0))
	}
	if active {
		c.Status.Active = []corev1.ObjectReference{{}}
	}
	return c
}

// exited is a pod whose container ended and is not started again.
func exited(code int32, message string) corev1.PodStatus {
	status := container1(corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}})
	status.Phase = map[bool]corev1.PodPhase{true: corev1.PodSucceeded, false: corev1.PodFailed}[code == 0]
	return status
}

// tryOf is a pod of a Job.
func tryOf(job string, number int, policy corev1.RestartPolicy, status corev1.PodStatus) corev1.Pod {
	pod := podOf(job, number, "", status)
	pod.Spec.RestartPolicy = policy
	return pod
}

func TestCausesOfJobs(t *testing.T) {
	const never, onFailure = corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure
	failed := func(reason string) *batchv1.Job {
		return jobOf(batchv1.JobStatus{Conditions: concluded(batchv1.JobFailed, reason), FailedIndexes: ptr.To("1,3")})
	}
	active := jobOf(batchv1.JobStatus{Active: 1})
	evicted := exited(137, "")
	evicted.Reason, evicted.Message = "Evicted", "The node was low on resource: memory."
	suspended := cronJobOf(2, 1, false)
	suspended.Spec.Suspend = ptr.To(true)
	cases := map[string]kindCase{
		"its tries are used up": {failed("BackoffLimitExceeded"), []corev1.Pod{tryOf("run-1", 2, never, exited(3, "connecting\npanic: no database")), tryOf("run-1", 1, never, exited(1, ""))}, nil,
			`2 Job run-1 failed after all attempts (BackoffLimitExceeded): container "app" ended with exit code 3: panic: no database`},
		"its last pod is named, whatever its name": {failed("BackoffLimitExceeded"), []corev1.Pod{tryOf("run-1", 10, never, exited(3, "")), tryOf("run-1", 9, never, exited(1, ""))}, nil,
			`2 Job run-1 failed after all attempts (BackoffLimitExceeded): container "app" ended with exit code 3`},
		"its container was started again": {failed("BackoffLimitExceeded"), []corev1.Pod{leaving(tryOf("run-1", 1, onFailure, crashing(6, time.Second, 0)))}, nil,
			`2 Job run-1 failed after all attempts (BackoffLimitExceeded): container "app" crashes with exit code 1`},
		"its pods are gone":                     {failed("BackoffLimitExceeded"), nil, nil, "2 Job run-1 failed after all attempts (BackoffLimitExceeded): it is over"},
		"its time is over":                      {failed("DeadlineExceeded"), nil, nil, "2 Job run-1 failed because it was not done within 60 s (DeadlineExceeded): it is over"},
		"its policy ended it":                   {failed("PodFailurePolicy"), []corev1.Pod{tryOf("run-1", 1, never, exited(42, ""))}, nil, `2 Job run-1 failed by its pod failure policy (PodFailurePolicy): container "app" ended with exit code 42`},
		"some of its indexes failed":            {failed("FailedIndexes"), nil, nil, "2 Job run-1 failed after all attempts of indexes 1,3 (FailedIndexes): it is over"},
		"a reason of others":                    {failed("Moon"), nil, nil, "2 Job run-1 failed (Moon): it is over"},
		"no reason":                             {failed(""), nil, nil, "2 Job run-1 failed: it is over"},
		"its pod was evicted":                   {failed("BackoffLimitExceeded"), []corev1.Pod{tryOf("run-1", 1, never, evicted)}, nil, "2 Job run-1 failed after all attempts (BackoffLimitExceeded): the pod was terminated: Evicted: The node was low on resource: memory"},
		"a pod has failed, and is tried again":  {active, []corev1.Pod{tryOf("run-1", 1, never, exited(1, "no database")), tryOf("run-1", 2, never, healthy)}, nil, `1 container "app" ended with exit code 1, and is retried: no database`},
		"the newest pod says more":              {active, []corev1.Pod{tryOf("run-1", 1, never, exited(1, "")), tryOf("run-1", 2, never, notFound)}, nil, noImage},
		"a container crashes, and is restarted": {active, []corev1.Pod{tryOf("run-1", 1, onFailure, crashing(6, time.Second, 0))}, nil, `1 container "app" crashes with exit code 1, restarted more than 5 times`},
		"one container is done, another runs":   {active, []corev1.Pod{tryOf("run-1", 1, never, container1(corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}))}, nil, ""},
		"a pod is refused":                      {jobOf(batchv1.JobStatus{}), nil, []corev1.Event{refused("run-1", "FailedCreate", "Error creating: "+quotaWords, 1)}, noQuota},
		"it is complete":                        {jobOf(batchv1.JobStatus{Conditions: concluded(batchv1.JobComplete, "")}), []corev1.Pod{tryOf("run-1", 1, never, exited(0, ""))}, nil, ""},

		"CronJob: never ran":        {cronJobOf(-1, -1, false), nil, nil, ""},
		"CronJob: succeeded":        {cronJobOf(1, 2, false), nil, nil, ""},
		"CronJob: never succeeded":  {cronJobOf(1, -1, false), []corev1.Pod{tryOf("run-1", 1, never, exited(3, "disk full")), tryOf("run-0", 2, never, exited(4, "moon full"))}, nil, `2 the last run of CronJob run failed (Job run-1): container "app" ended with exit code 3: disk full`},
		"CronJob: succeeded before": {cronJobOf(2, 1, false), nil, nil, `2 the last run of CronJob run failed (Job run-2)`},
		"CronJob: is running again": {cronJobOf(2, 1, true), nil, nil, ""},
		"CronJob: cannot run":       {cronJobOf(2, 1, true), []corev1.Pod{tryOf("run-2", 1, never, notFound)}, nil, noImage},
		"CronJob: suspended":        {suspended, nil, nil, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) { testKind(t, test) })
	}
}

// The pods of a Job whose containers are started again go when it fails, and so do those that its deadline ends.
func TestTheLastWordsOutliveThePods(t *testing.T) {
	const failure = "Job run-1 failed after all attempts (BackoffLimitExceeded)"
	for name, test := range map[string]struct {
		known Cause
		want  string
	}{
		"it crashed":               {Cause{Reason: v1.ReasonContainerCrashed, Message: "it crashes", Detail: "no database", Effect: Passing}, "it crashes: no database"},
		"it was told":              {Cause{Reason: v1.ReasonJobFailed, Message: failure, Detail: "no database", Effect: Lasting}, "no database"},
		"another failure was":      {Cause{Reason: v1.ReasonJobFailed, Message: "another", Detail: "no database", Effect: Lasting}, "it is over"},
		"what was known is advice": {Cause{Reason: v1.ReasonAutoscalingMetricsMissing, Message: "no metrics"}, "it is over"},
	} {
		t.Run(name, func(t *testing.T) {
			workload, _ := WorkloadOf(jobOf(batchv1.JobStatus{Conditions: concluded(batchv1.JobFailed, "BackoffLimitExceeded")}))
			causes := Causes(Findings{Workload: workload, Known: []Cause{test.known}, Now: noon})
			if len(causes) != 1 || causes[0].Text() != failure+": "+test.want {
				t.Errorf("got %+v, want %s", causes, test.want)
			}
		})
	}
}

// A Job that has failed permanently no longer changes: it is not worth a request a minute.
func TestWhatIsOverIsLookedAtSeldom(t *testing.T) {
	workload, _ := WorkloadOf(cronJobOf(2, 1, false))
	begin, count := noon, 0
	looks := Follow(nil, workload, begin, true)
	for now := begin; now.Before(begin.Add(24 * time.Hour)); now = now.Add(looks.Wait(now)) {
		looks = Follow(looks, workload, now, false)
		looks.Done(now, []Cause{{Effect: Lasting}})
		count++
	}
	if count < 24 || count > 30 {
		t.Errorf("got %d looks in a day, want one an hour", count)
	}
	again, _ := WorkloadOf(cronJobOf(3, 1, true))
	if Follow(looks, again, begin.Add(24*time.Hour), false).Wait(begin.Add(24*time.Hour)) > closest {
		t.Error("it is not looked at though it runs again")
	}
}

package translate

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// jobFields are the fields of an AppJob that are those of an AppService.
var jobFields = []string{"image", "imagePullPolicy", "imagePullSecrets", "command", "args", "workingDir", "resources",
	"envs", "envFrom", "config", "volumes", "volumeMounts", "serviceAccount", "security", "nodeSelector", "tolerations",
	"podLabels", "podAnnotations"}

// forJob drops the fields of a spec that an AppJob does not have.
func forJob(content map[string]any) {
	for key := range content {
		if !slices.Contains(jobFields, key) {
			delete(content, key)
		}
	}
	if account, is := content["serviceAccount"].(map[string]any); is {
		delete(account, "create")
		delete(account, "annotations")
	}
}

// jobPieces returns the pieces of an AppJob's spec, the image first.
func (a *Application) jobPieces() []piece {
	list := a.containerPieces()
	list = slices.Concat(list[:1], a.podPieces(), list[1:], a.securityPieces(), a.configPieces(), a.accountPieces(),
		a.labelPieces())
	add := func(field, name string, value any) {
		list = append(list, piece{from: a.from(field), job: map[string]any{name: value}})
	}
	job, spec := &a.Cron.Spec.JobTemplate.Spec, &a.Cron.Spec
	add("spec.backoffLimit", "retries", int64(ptr.Deref(job.BackoffLimit, defaultRetries)))
	if job.ActiveDeadlineSeconds != nil {
		add("spec.activeDeadlineSeconds", "deadlineSeconds", *job.ActiveDeadlineSeconds)
	}
	if ptr.Deref(spec.Suspend, ptr.Deref(job.Suspend, false)) {
		add("spec.suspend", "suspend", true)
	}
	if spec.Schedule == "" {
		return list
	}
	add("spec.schedule", "schedule", spec.Schedule)
	if spec.TimeZone != nil {
		add("spec.timeZone", "timeZone", *spec.TimeZone)
	}
	policy := spec.ConcurrencyPolicy
	if policy == "" {
		policy = batchv1.AllowConcurrent
	}
	add("spec.concurrencyPolicy", "concurrencyPolicy", string(policy))
	add("spec.successfulJobsHistoryLimit", "history", map[string]any{
		"successful": int64(ptr.Deref(spec.SuccessfulJobsHistoryLimit, 3)), "failed": int64(ptr.Deref(spec.FailedJobsHistoryLimit, 1)),
	})
	return list
}

// jobToo returns an error for a Job that does not run as an AppJob: it has several containers, or pods that count
// together.
func (a *Application) jobToo() error {
	if a.Cron == nil {
		return nil
	}
	job, pod := &a.Cron.Spec.JobTemplate.Spec, &a.Template.Spec
	switch {
	case len(pod.InitContainers) > 0:
		return fmt.Errorf("an AppJob runs one container, and it has %d more: keep it beside, or run all by one command", len(pod.InitContainers))
	case ptr.Deref(job.Completions, 1) != 1 || ptr.Deref(job.Parallelism, 1) > 1:
		return fmt.Errorf("spec.completions, spec.parallelism: an AppJob runs one pod at a time, to its end: keep it beside")
	}
	return nil
}

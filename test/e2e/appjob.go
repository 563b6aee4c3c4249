package main

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// appJob is an AppJob of the web server, which does not serve in this mode.
func appJob(mode string) *unstructured.Unstructured {
	job := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"image": oldTag, "retries": int64(0), "envs": []any{map[string]any{"name": "MODE", "value": mode}},
	}}}
	job.SetGroupVersionKind(v1.GroupVersion.WithKind("AppJob"))
	job.SetNamespace(apps)
	job.SetName("job-" + mode)
	return job
}

// runJobs has AppJobs run: one to its end, one that fails, and one on a schedule. Nothing is left of them.
func runJobs(ctx context.Context, s *suite) {
	once, crash, scheduled := appJob("once"), appJob("crash"), appJob("once")
	scheduled.SetName("job-scheduled")
	scheduled.Object["spec"].(map[string]any)["schedule"] = "0 3 * * *"
	for _, one := range []struct {
		job                     *unstructured.Unstructured
		status, reason, message string
	}{
		{once, "True", v1.ReasonComplete, ""},
		{crash, "False", v1.ReasonJobFailed, "cannot reach the database"},
		{scheduled, "True", v1.ReasonRunning, ""},
	} {
		try.Do(s.client.Create(ctx, one.job))
		try.Do(poll.Until(ctx, func(ctx context.Context) error {
			if err := s.client.Get(ctx, client.ObjectKeyFromObject(one.job), one.job); err != nil {
				return err
			}
			status, reason, message := readiness(one.job)
			if status != one.status || reason != one.reason || !strings.Contains(message, one.message) {
				return fmt.Errorf("%s has Ready %s %s: %s", one.job.GetName(), status, reason, message)
			}
			return nil
		}))
	}
	for _, job := range []*unstructured.Unstructured{once, crash, scheduled} {
		try.Do(s.client.Delete(ctx, job))
	}
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		for _, list := range []client.ObjectList{&batchv1.JobList{}, &batchv1.CronJobList{}} {
			if err := s.client.List(ctx, list, client.InNamespace(apps)); err != nil {
				return err
			}
			if left := meta.LenList(list); left > 0 {
				return fmt.Errorf("%d are left in a %T", left, list)
			}
		}
		return nil
	}))
}

// readiness is the condition Ready of a resource.
func readiness(resource *unstructured.Unstructured) (status, reason, message string) {
	list, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
	for _, entry := range list {
		if condition, _ := entry.(map[string]any); condition["type"] == v1.ConditionReady {
			return fmt.Sprint(condition["status"]), fmt.Sprint(condition["reason"]), fmt.Sprint(condition["message"])
		}
	}
	return "", "", ""
}

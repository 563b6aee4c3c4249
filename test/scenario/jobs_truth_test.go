//go:build cluster

package scenario

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// servedOf returns the AppService or AppJob as it was seen, with the metadata and the status, which have one form.
func servedOf(kind string, objects map[string]*unstructured.Unstructured) (*v1.AppService, error) {
	live := objects[kind+" "+appName]
	if live == nil {
		return nil, nil
	}
	app := &v1.AppService{}
	content := map[string]any{"metadata": live.Object["metadata"], "status": live.Object["status"]}
	return app, runtime.DefaultUnstructuredConverter.FromUnstructured(content, app)
}

// untrueRuns returns what is untrue in the status of an AppJob, if there is one: oracle O4.
func untrueRuns(objects map[string]*unstructured.Unstructured) error {
	app, err := servedOf(jobKind, objects)
	if err != nil || app == nil {
		return err
	}
	if err := outdated(app); err != nil {
		return err
	}
	if err := untrueResources(&app.Status, objects); err != nil {
		return err
	}
	jobs, err := notedJobs(app.Status.Runs, objects)
	if err != nil {
		return err
	}
	if meta.IsStatusConditionTrue(app.Status.Conditions, v1.ConditionReady) {
		return untrulyComplete(app, objects)
	}
	return miscounted(app, jobs)
}

// notedJobs returns the Jobs by UID, and what is untrue in the runs that a status notes.
func notedJobs(runs []v1.RunStatus, objects map[string]*unstructured.Unstructured) (map[types.UID]*batchv1.Job, error) {
	jobs := map[types.UID]*batchv1.Job{}
	for _, job := range jobsIn(objects) {
		jobs[job.UID] = job
	}
	for _, run := range runs {
		if err := untrueRun(run, jobs[run.UID]); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// miscounted returns in what the pods of a Job that runs, in the status, differ from those that the Job counts. They are written at intervals.
func miscounted(app *v1.AppService, jobs map[types.UID]*batchv1.Job) error {
	for _, resource := range app.Status.Resources {
		for _, job := range jobs {
			counted := fmt.Sprintf("%d pods run", job.Status.Active)
			if resource.Kind == "Job" && resource.Name == job.Name && strings.Contains(resource.Message, " pods run") && !strings.Contains(resource.Message, counted) {
				return fmt.Errorf("status says of Job %s that %s, and it has %d", job.Name, resource.Message, job.Status.Active)
			}
		}
	}
	return nil
}

// untrueRun returns in what a noted run differs from its Job, nil if that is gone.
func untrueRun(run v1.RunStatus, job *batchv1.Job) error {
	switch {
	case job == nil && run.Result == "":
		return fmt.Errorf("status notes no result of Job %s, which is gone", run.Job)
	case job != nil && run.Job != job.Name, job != nil && run.Result != resultOf(job):
		return fmt.Errorf("status notes %+v, and Job %s has the result %q", run, job.Name, resultOf(job))
	}
	return nil
}

// untrulyComplete returns what contradicts that an AppJob is complete.
func untrulyComplete(app *v1.AppService, objects map[string]*unstructured.Unstructured) error {
	if len(app.Status.Runs) == 0 {
		return fmt.Errorf("Ready without a run")
	}
	for _, run := range app.Status.Runs {
		if run.Result != v1.RunComplete {
			return fmt.Errorf("Ready with the run %+v", run)
		}
	}
	return unlisted(app, objects)
}

// resultOf returns how a Job ended, empty if it has not.
func resultOf(job *batchv1.Job) v1.RunResult {
	for _, condition := range job.Status.Conditions {
		if condition.Status == corev1.ConditionTrue && (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) {
			return v1.RunResult(condition.Type)
		}
	}
	return ""
}

// jobsIn returns the Jobs among objects.
func jobsIn(objects map[string]*unstructured.Unstructured) (list []*batchv1.Job) {
	for _, object := range objects {
		job := &batchv1.Job{}
		if object.GetKind() == "Job" && runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, job) == nil {
			list = append(list, job)
		}
	}
	return list
}

// podless returns an error while a Job runs that has no pod yet.
func podless(objects map[string]*unstructured.Unstructured) error {
	for _, job := range jobsIn(objects) {
		if !ptr.Deref(job.Spec.Suspend, false) && resultOf(job) == "" && job.Status.Active == 0 {
			return fmt.Errorf("job %s has no pod yet", job.Name)
		}
	}
	return nil
}

// stepTo is the step to a spec. An AppJob whose pods follow a script continues.
func stepTo(spec string) step {
	if strings.Contains(spec, scripted) && !strings.Contains(spec, then) {
		return step{spec: spec, ready: metav1.ConditionFalse}
	}
	return step{spec: spec}
}

//go:build cluster

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

func appJob(namespace string, spec map[string]any) *unstructured.Unstructured {
	job := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	job.SetGroupVersionKind(v1.GroupVersion.WithKind("AppJob"))
	job.SetNamespace(namespace)
	job.SetName("report")
	return job
}

// jobs are the names of the Jobs in a namespace, sorted.
func jobs(t *testing.T, namespace string) ([]string, error) {
	t.Helper()
	list := &batchv1.JobList{}
	if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	var names []string
	for _, job := range list.Items {
		if job.DeletionTimestamp == nil {
			names = append(names, job.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// onlyJob waits until one Job exists, which is not the given one, and returns its name.
func onlyJob(t *testing.T, namespace, other string) (name string) {
	t.Helper()
	harness.Eventually(t, "there is one Job, a new one", func() error {
		names, err := jobs(t, namespace)
		if err != nil {
			return err
		}
		if len(names) != 1 || names[0] == other {
			return fmt.Errorf("there are %v, and %q was there before", names, other)
		}
		name = names[0]
		return nil
	})
	return name
}

func set(t *testing.T, resource *unstructured.Unstructured, field string, value any) {
	t.Helper()
	before := resource.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(resource.Object, value, "spec", field))
	cluster.Patch(t, resource, client.MergeFrom(before))
}

func TestAnAppJobRunsOnceForEachVersion(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	job := appJob(namespace, map[string]any{"image": "report:1"})
	cluster.Create(t, job)
	becomesReady(t, job)
	assert.NoError(t, stands(job, map[string]string{v1.ConditionReady: "True " + v1.ReasonComplete}))
	first := onlyJob(t, namespace, "")

	set(t, job, "retries", int64(1)) // it has run: nothing of it may run again
	becomesReady(t, job)
	if names, err := jobs(t, namespace); err != nil || !slices.Equal(names, []string{first}) {
		t.Errorf("got %v (error %v), want %s alone", names, err, first)
	}

	set(t, job, "image", "report:2")
	onlyJob(t, namespace, first)
	becomesReady(t, job)
}

func TestAnAppJobThatFails(t *testing.T) {
	t.Parallel()
	failed := fmt.Sprintf(`{phase: Failed, %s, containerStatuses: [{name: app, image: x, imageID: "", ready: false, started: false, restartCount: 0, state: {terminated: {exitCode: 3, reason: Error, message: %q, startedAt: NOW, finishedAt: NOW}}}]}`,
		unreadyPod, "connecting\npanic: no database")
	namespace, _ := cluster.ManagedNamespace(t)
	job := appJob(namespace, map[string]any{"image": "report:1", "retries": int64(0), "podAnnotations": map[string]any{"script.kwok.x-k8s.io/status": failed}})
	cluster.Create(t, job)
	tells(t, job, v1.ReasonJobFailed, `Job report-… failed after all attempts (BackoffLimitExceeded): container "app" ended with exit code 3: panic: no database`)

	set(t, job, "podAnnotations", map[string]any{"corrected": "true"})
	becomesReady(t, job)
}

func TestAnAppJobChangesBetweenOnceAndASchedule(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	job := appJob(namespace, map[string]any{"image": "report:1", "schedule": "0 3 1 1 *"})
	cluster.Create(t, job)
	becomesReady(t, job)
	cronJob := &batchv1.CronJob{}
	cluster.Get(t, client.ObjectKeyFromObject(job), cronJob)
	if cronJob.Spec.Schedule != "0 3 1 1 *" || cronJob.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent {
		t.Errorf("got %+v", cronJob.Spec)
	}
	before := job.DeepCopy()
	unstructured.RemoveNestedField(job.Object, "spec", "schedule")
	cluster.Patch(t, job, client.MergeFrom(before))
	onlyJob(t, namespace, "")
	becomesReady(t, job)
	harness.Eventually(t, "the CronJob is gone", func() error {
		return gone(t, namespace, job.GetName(), cronJob)
	})
}

// TestAnAppJobThatMakesNoSense: the rules of its fields.yaml are the API server's.
func TestAnAppJobThatMakesNoSense(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	tests := map[string]struct {
		spec    map[string]any
		refused string // part of the refusal; empty if it is accepted
	}{
		"a volume that is named like that of a claim": {
			spec: map[string]any{"volumes": []any{map[string]any{"name": "data", "emptyDir": map[string]any{}}}},
		},
		"a volume that is named like that of files, of which there are none": {
			spec: map[string]any{"volumes": []any{map[string]any{"name": "config-files", "emptyDir": map[string]any{}}}},
		},
		"a volume that is named like that of files": {
			spec: map[string]any{
				"volumes": []any{map[string]any{"name": "config-files", "emptyDir": map[string]any{}}},
				"config":  map[string]any{"files": map[string]any{"a": "b"}},
			},
			refused: "spec.volumes[].name must not be config-files",
		},
		"the token of an account": {
			spec: map[string]any{"serviceAccount": map[string]any{"name": "default", "automountToken": true}},
		},
		"the token of an account that nobody names": {
			spec:    map[string]any{"serviceAccount": map[string]any{"automountToken": true}},
			refused: "spec.serviceAccount.automountToken needs spec.serviceAccount.name",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.spec["image"] = "report:1"
			err := cluster.Client.Create(t.Context(), appJob(namespace, test.spec), client.DryRunAll)
			switch {
			case test.refused == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("got error %v, want %q in it", err, test.refused)
			}
		})
	}
}

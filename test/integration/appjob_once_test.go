//go:build cluster

package integration

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/pod-security-admission/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// runCount are the Jobs of a namespace that were ever seen not suspended, the first first.
type runCount struct {
	mu    sync.Mutex
	jobs  []string
	uids  map[types.UID]bool
	began map[string]func() // called when the Job of an image is first seen running
}

// countRuns counts the runs of a namespace from now on.
func countRuns(t *testing.T, namespace string) *runCount {
	t.Helper()
	watcher, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: cluster.Client.Scheme()})
	require.NoError(t, err)
	events, err := watcher.Watch(t.Context(), &batchv1.JobList{}, client.InNamespace(namespace))
	require.NoError(t, err)
	t.Cleanup(events.Stop)
	counted := &runCount{uids: map[types.UID]bool{}, began: map[string]func(){}}
	go func() {
		for event := range events.ResultChan() {
			if job, is := event.Object.(*batchv1.Job); is && !ptr.Deref(job.Spec.Suspend, false) {
				counted.add(job)
			}
		}
	}()
	return counted
}

func (r *runCount) add(job *batchv1.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.uids[job.UID] {
		return
	}
	r.uids[job.UID] = true
	image := job.Spec.Template.Spec.Containers[0].Image
	if began := r.began[image]; began != nil {
		began()
	}
	r.jobs = append(r.jobs, image)
}

// when has a function called, by another goroutine, when the Job of an image is first seen running.
func (r *runCount) when(image string, began func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began[image] = began
}

// are returns an error unless these images have run, in this order.
func (r *runCount) are(images ...string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.jobs, images) {
		return fmt.Errorf("these have run: %v, want %v", r.jobs, images)
	}
	return nil
}

// onceReady creates an AppJob of report:1, and waits until it is complete.
func onceReady(t *testing.T, namespace string) (*unstructured.Unstructured, *runCount) {
	t.Helper()
	counted := countRuns(t, namespace)
	job := appJob(namespace, map[string]any{"image": "report:1"})
	cluster.Create(t, job)
	becomesReady(t, job)
	harness.Eventually(t, "it has run", func() error { return counted.are("report:1") })
	return job, counted
}

// result returns an error unless the only run of an AppJob has a result.
func result(t *testing.T, job *unstructured.Unstructured, want v1.RunResult) error {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil {
		return err
	}
	list, _, _ := unstructured.NestedSlice(job.Object, "status", "runs")
	if len(list) != 1 || list[0].(map[string]any)["result"] != string(want) {
		return fmt.Errorf("the runs are %v", list)
	}
	return nil
}

// Whatever happens around an AppJob that is complete, it does not run again.
func TestAnAppJobThatIsCompleteDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	label := func(t *testing.T, namespace, value string) {
		t.Helper()
		patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, api.EnforceLevelLabel, value)
		cluster.Patch(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	cases := map[string]func(t *testing.T, namespace string, first *harness.Manager) *harness.Manager{
		"a label of the namespace": func(t *testing.T, namespace string, first *harness.Manager) *harness.Manager {
			label(t, namespace, `"restricted"`)
			first.Rest(t)
			label(t, namespace, "null")
			return first
		},
		"defaults of the namespace": func(t *testing.T, namespace string, first *harness.Manager) *harness.Manager {
			defaults := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "appservice-defaults"}}
			defaults.Data = map[string]string{"appjob.yaml": "resources: {requests: {cpu: 10m}}"}
			cluster.Create(t, defaults)
			return first
		},
		"its Job is deleted": func(t *testing.T, namespace string, first *harness.Manager) *harness.Manager {
			for _, job := range jobsOf(t, namespace) {
				cluster.Delete(t, &job, client.PropagationPolicy(metav1.DeletePropagationBackground))
			}
			return first
		},
		"the operator restarts": func(t *testing.T, namespace string, first *harness.Manager) *harness.Manager {
			first.Stop(t)
			return cluster.Manager(t, namespace)
		},
		"its Job is deleted while no operator runs": func(t *testing.T, namespace string, first *harness.Manager) *harness.Manager {
			first.Stop(t)
			for _, job := range jobsOf(t, namespace) {
				cluster.Delete(t, &job, client.PropagationPolicy(metav1.DeletePropagationBackground))
			}
			return cluster.Manager(t, namespace)
		},
		"a chart writes a default": func(t *testing.T, namespace string, first *harness.Manager) *harness.Manager {
			first.Stop(t)
			return cluster.Manager(t, namespace, withJobChart(t, "restartPolicy: Never", "restartPolicy: Never\nschedulerName: default-scheduler"))
		},
		"a chart names one more field": func(t *testing.T, namespace string, first *harness.Manager) *harness.Manager {
			first.Stop(t)
			return cluster.Manager(t, namespace, withJobChart(t, `"args,`, `"retries,args,`))
		},
		"its status is lost": func(t *testing.T, namespace string, first *harness.Manager) *harness.Manager {
			first.Stop(t)
			lost := appJob(namespace, nil)
			require.NoError(t, cluster.Client.Status().Patch(t.Context(), lost, client.RawPatch(types.MergePatchType, []byte(`{"status":null}`))))
			return cluster.Manager(t, namespace)
		},
	}
	for name, happens := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, first := cluster.ManagedNamespace(t)
			job, counted := onceReady(t, namespace)
			harness.Eventually(t, "its result is noted", func() error { return result(t, job, v1.RunComplete) })
			first.Rest(t)
			happens(t, namespace, first).Rest(t)
			becomesReady(t, job)
			require.NoError(t, counted.are("report:1"))
		})
	}
}

// withJobChart returns the options of an operator whose chart of AppJobs differs in one place.
func withJobChart(t *testing.T, before, after string) func(*operator.Options, *harness.Requests) {
	t.Helper()
	dir := files.Charts(t)
	found := false
	for _, name := range []string{"_helpers.tpl", "job.yaml"} {
		file := filepath.Join(dir, "helm-charts/appjob/templates", name)
		text := string(files.Text(t, file))
		found = found || strings.Contains(text, before)
		files.Write(t, file, strings.Replace(text, before, after, 1))
	}
	require.True(t, found)
	return func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir }
}

func jobsOf(t *testing.T, namespace string) []batchv1.Job {
	t.Helper()
	list := &batchv1.JobList{}
	cluster.List(t, list, client.InNamespace(namespace))
	return list.Items
}

// A policy of the platform that deletes Jobs when they have ended does not have them run again.
func TestAnAppJobWhoseJobsAreDeletedAfterATime(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	counted := countRuns(t, namespace)
	manager := cluster.Manager(t, namespace)
	job := appJob(namespace, map[string]any{"image": "report:1"})
	cluster.Create(t, job)
	harness.Eventually(t, "its Job is to be deleted after a time", func() error {
		for _, made := range jobsOf(t, namespace) {
			return cluster.Client.Patch(t.Context(), &made, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"ttlSecondsAfterFinished":2}}`)))
		}
		return errors.New("there is none")
	})
	harness.Eventually(t, "its Job is gone", func() error { return want("Jobs", len(jobsOf(t, namespace)), 0) })
	manager.Rest(t)
	becomesReady(t, job)
	require.NoError(t, result(t, job, v1.RunComplete))
	require.NoError(t, counted.are("report:1"))
}

// A Job that is changed back runs again, and so does one on request.
func TestAnAppJobRunsAgain(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	job, counted := onceReady(t, namespace)
	set(t, job, "image", "report:2")
	becomesReady(t, job)
	set(t, job, "image", "report:1")
	becomesReady(t, job)
	harness.Eventually(t, "it has run three times", func() error { return counted.are("report:1", "report:2", "report:1") })
	cluster.Patch(t, job, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"app.example.com/restarted-at":"now"}}}`)))
	harness.Eventually(t, "it has run again", func() error { return counted.are("report:1", "report:2", "report:1", "report:1") })
	becomesReady(t, job)
}

// A failed AppJob runs again only when that is asked for, also if its Job is deleted.
func TestAnAppJobThatFailedRunsAgainOnRequest(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	failed := fmt.Sprintf(`{phase: Failed, %s, containerStatuses: [{name: app, image: x, imageID: "", ready: false, started: false, restartCount: 0, state: {terminated: {exitCode: 3, reason: Error, startedAt: NOW, finishedAt: NOW}}}]}`, unreadyPod)
	job := appJob(namespace, map[string]any{"image": "report:1", "retries": int64(0), "podAnnotations": map[string]any{"script.kwok.x-k8s.io/status": failed}})
	cluster.Create(t, job)
	harness.Eventually(t, "its failure is noted", func() error { return result(t, job, v1.RunFailed) })
	for _, made := range jobsOf(t, namespace) {
		cluster.Delete(t, &made, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	harness.Eventually(t, "its Job is gone", func() error { return want("Jobs", len(jobsOf(t, namespace)), 0) })
	manager.Rest(t)
	require.NoError(t, counted.are("report:1"))
	tells(t, job, v1.ReasonJobFailed, "Job report-…failed")
	problems, err := problemsOf(t, job)
	require.NoError(t, err)
	require.Contains(t, problems[0]["hint"], "kubectl appservice restart")
	cluster.Patch(t, job, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"app.example.com/restarted-at":"now"}}}`)))
	harness.Eventually(t, "it has run again", func() error { return counted.are("report:1", "report:1") })
}

// A Job that is gone before its end was seen may have done anything.
func TestAnAppJobWhoseJobIsGone(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	job := appJob(namespace, map[string]any{"image": "report:1", "podAnnotations": map[string]any{"script.kwok.x-k8s.io/status": "{phase: Running}"}})
	cluster.Create(t, job)
	harness.Eventually(t, "it runs", func() error { return counted.are("report:1") })
	first.Stop(t)
	for _, made := range jobsOf(t, namespace) {
		cluster.Delete(t, &made, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	harness.Eventually(t, "its Job is gone", func() error { return want("Jobs", len(jobsOf(t, namespace)), 0) })
	cluster.Manager(t, namespace)
	tells(t, job, v1.ReasonRunUnknown, "Job report-…unasked")
	require.NoError(t, counted.are("report:1"))
}

// An AppJob that was changed, or made again, does not start while a pod of the run before is still there, and says which one.
func TestAnAppJobWaitsForTheRunBefore(t *testing.T) {
	t.Parallel()
	cases := map[string]func(t *testing.T, job *unstructured.Unstructured) *unstructured.Unstructured{
		"it is changed": func(t *testing.T, job *unstructured.Unstructured) *unstructured.Unstructured {
			set(t, job, "podAnnotations", map[string]any{})
			set(t, job, "image", "report:2")
			return job
		},
		"it is made again": func(t *testing.T, job *unstructured.Unstructured) *unstructured.Unstructured {
			cluster.Delete(t, job)
			again := appJob(job.GetNamespace(), map[string]any{"image": "report:2"})
			cluster.Create(t, again)
			return again
		},
	}
	for name, another := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waitsForTheRunBefore(t, another)
		})
	}
}

// waitsForTheRunBefore has an AppJob run another image while the pod of its first run cannot end.
func waitsForTheRunBefore(t *testing.T, another func(*testing.T, *unstructured.Unstructured) *unstructured.Unstructured) {
	t.Helper()
	namespace, _ := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	job := appJob(namespace, map[string]any{"image": "report:1", "podAnnotations": map[string]any{"script.kwok.x-k8s.io/status": "{phase: Running}"}})
	cluster.Create(t, job)
	pods := &corev1.PodList{}
	harness.Eventually(t, "it runs, and its pod cannot end", func() error {
		if err := cluster.Client.List(t.Context(), pods, client.InNamespace(namespace)); err != nil || len(pods.Items) == 0 {
			return fmt.Errorf("there is no pod (error %w)", err)
		}
		return cluster.Client.Patch(t.Context(), &pods.Items[0], client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/hold"}]`)))
	})
	pod := pods.Items[0].Name
	job = another(t, job)
	harness.Eventually(t, "the status names the pod", func() error {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		if err := stands(job, map[string]string{v1.ConditionReady: "False " + v1.ReasonPending}); err != nil {
			return err
		}
		list, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
		if text := fmt.Sprint(list); !strings.Contains(text, "Pod "+pod) || !strings.Contains(text, "example.com/hold") {
			return errors.New(text)
		}
		return counted.are("report:1")
	})
	key := client.ObjectKeyFromObject(&pods.Items[0]) // the function runs while the test patches the pod
	counted.when("report:2", func() {
		if err := cluster.Client.Get(t.Context(), key, &corev1.Pod{}); !apierrors.IsNotFound(err) {
			t.Errorf("it starts while the pod of the run before is there (error %v)", err)
		}
	})
	harness.Eventually(t, "the pod may end", func() error {
		return client.IgnoreNotFound(cluster.Client.Patch(t.Context(), &pods.Items[0], client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
	})
	harness.Eventually(t, "then it runs", func() error { return counted.are("report:1", "report:2") })
	becomesReady(t, job)
}

// While the record of a release is refused, and the next spec, too, nothing of an earlier release runs again.
func TestAnAppJobWhoseRecordIsRefused(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	job, counted := onceReady(t, namespace)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "full"}}
	quota.Spec.Hard = corev1.ResourceList{"count/secrets": resource.MustParse("1")}
	cluster.Create(t, quota)
	cluster.Becomes(t, "the quota counts", quota, func() error { return want("resources counted", len(quota.Status.Used), 1) })
	set(t, job, "image", "report:2")
	harness.Eventually(t, "it has run", func() error { return counted.are("report:1", "report:2") })
	harness.Eventually(t, "its result is noted", func() error { return result(t, job, v1.RunComplete) })
	set(t, job, "envFrom", []any{map[string]any{"secretRef": map[string]any{"name": "nope"}}})
	tells(t, job, v1.ReasonDependencyMissing, `Secret "nope"…`)
	manager.Rest(t)
	require.NoError(t, counted.are("report:1", "report:2"))
	cluster.Delete(t, quota)
}

// spec.suspend holds a run back, and stops it; what others suspend stays suspended.
func TestAnAppJobThatIsSuspended(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	job := appJob(namespace, map[string]any{"image": "report:1", "suspend": true, "podAnnotations": map[string]any{"script.kwok.x-k8s.io/status": "{phase: Running}"}})
	cluster.Create(t, job)
	suspended := func(want bool, started string) {
		t.Helper()
		harness.Eventually(t, fmt.Sprintf("that it is suspended is %t", want), func() error {
			made := jobsOf(t, namespace)
			if len(made) != 1 || ptr.Deref(made[0].Spec.Suspend, false) != want || made[0].Annotations[v1.AnnotationStarted] != started {
				return fmt.Errorf("there are %d Jobs: %+v", len(made), made)
			}
			return nil
		})
	}
	suspended(true, "")
	manager.Rest(t)
	require.NoError(t, counted.are())
	set(t, job, "suspend", false)
	suspended(false, "true")
	set(t, job, "suspend", true)
	suspended(true, "suspended")
	set(t, job, "suspend", false)
	suspended(false, "true")
	made := jobsOf(t, namespace)
	cluster.Patch(t, &made[0], client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`)))
	manager.Rest(t)
	suspended(true, "true")
}

// Of two resources of one name, whose release records have one name, the later one is refused before it writes anything.
func TestTwoKindsOfOneName(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := harness.Seed(namespace, "report")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	job := appJob(namespace, map[string]any{"image": "report:1"})
	cluster.Create(t, job)
	tells(t, job, v1.ReasonResourceExists, `AppService "report" exists…`)
	manager.Rest(t)
	require.NoError(t, counted.are())
	if made := jobsOf(t, namespace); len(made) > 0 {
		t.Errorf("it made %s", made[0].Name)
	}
	cluster.Ready(t, app)
}

// before is the commit of the version that the operator is upgraded from.
const before = "0f06f823"

// An upgrade runs nothing again that has run, or runs, for the present spec.
func TestAnUpgradeRunsNoAppJobAgain(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	counted := countRuns(t, namespace)
	proxy := cluster.NewProxy(t)
	old := harness.RunBinary(t, managerOf(t, sourceOf(t, before)), proxy.Kubeconfig, "--watch-namespaces="+namespace)
	var all []*unstructured.Unstructured
	for i := range 10 {
		job := appJob(namespace, map[string]any{"image": "report:1", "config": map[string]any{"environment": map[string]any{"N": fmt.Sprint(i)}}})
		job.SetName(fmt.Sprintf("report-%d", i))
		cluster.Create(t, job)
		all = append(all, job)
	}
	long := appJob(namespace, map[string]any{"image": "report:1", "podAnnotations": map[string]any{"script.kwok.x-k8s.io/status": "{phase: Running}"}})
	cluster.Create(t, long)
	for _, job := range all {
		becomesReady(t, job)
	}
	began := slices.Repeat([]string{"report:1"}, 11)
	harness.Eventually(t, "all have run", func() error { return counted.are(began...) })
	old.Kill()
	made := map[types.UID]bool{}
	for _, job := range jobsOf(t, namespace) {
		made[job.UID] = true
	}

	manager := cluster.Manager(t, namespace)
	for _, job := range all {
		harness.Eventually(t, "its result is noted", func() error { return result(t, job, v1.RunComplete) })
		becomesReady(t, job)
	}
	harness.Eventually(t, "what runs is noted", func() error {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(long), long); err != nil {
			return err
		}
		list, _, _ := unstructured.NestedSlice(long.Object, "status", "runs")
		return want("runs", len(list), 1)
	})
	manager.Rest(t)
	now := jobsOf(t, namespace)
	require.Len(t, now, 11)
	for _, job := range now {
		if !made[job.UID] {
			t.Errorf("Job %s is new", job.Name)
		}
	}
	require.NoError(t, counted.are(began...))
	set(t, all[0], "image", "report:2")
	harness.Eventually(t, "a change runs", func() error { return counted.are(append(began, "report:2")...) })
}

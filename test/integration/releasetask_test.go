//go:build cluster

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// jobScript is the annotation of pods of Jobs with the status that they get.
const jobScript = "script.kwok.x-k8s.io/jobs"

// The status of a task that does not end, and of one that fails.
const runsOn = `{phase: Running, containerStatuses: [{name: release, image: x, imageID: "", ready: true, started: true, restartCount: 0, state: {running: {startedAt: NOW}}}]}`

var fails = v1.Annotation(fmt.Sprintf(`{phase: Failed, %s, containerStatuses: [{name: release, image: x, imageID: "", ready: false, started: false, restartCount: 0, state: {terminated: {exitCode: 3, reason: Error, message: %q, startedAt: NOW, finishedAt: NOW}}}]}`,
	unreadyPod, "relation users already exists"))

// migrated returns an AppService with a release task.
func migrated(namespace string) *v1.AppService {
	app := harness.Seed(namespace, "shop")
	app.Spec.Image = "shop:1"
	app.Spec.Config = &v1.Config{Environment: map[string]v1.ConfigValue{"VERSION": "shop:1"}}
	app.Spec.Release = &v1.ReleaseTask{Command: []string{"bin/rails", "db:migrate"}}
	return app
}

// scriptTask sets what the pods of the next task do.
func scriptTask(app *v1.AppService, status v1.Annotation) {
	app.Spec.PodAnnotations = map[string]v1.Annotation{jobScript: status}
}

// imageOf returns the image that the Deployment of an AppService runs; empty if there is none.
func imageOf(t *testing.T, app *v1.AppService) string {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), deployment); err != nil {
		require.NoError(t, client.IgnoreNotFound(err))
		return ""
	}
	return deployment.Spec.Template.Spec.Containers[0].Image
}

// taskPod returns the pod of the task that runs.
func taskPod(t *testing.T, namespace string) *corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	var found *corev1.Pod
	harness.Eventually(t, "the task has a pod", func() error {
		if err := cluster.Client.List(t.Context(), pods, client.InNamespace(namespace),
			client.MatchingLabels{"app.kubernetes.io/name": "appservice-release"}); err != nil {
			return err
		}
		at := slices.IndexFunc(pods.Items, func(pod corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
		})
		if at < 0 {
			return errors.New("it has none that runs")
		}
		found = &pods.Items[at]
		return nil
	})
	return found
}

// succeeds ends the pod of a task that runs on.
func succeeds(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`))
	require.NoError(t, cluster.Client.Status().Patch(t.Context(), pod, patch))
}

// noted returns an error unless the only run of an AppService has a result.
func noted(t *testing.T, app *v1.AppService, result v1.RunResult) error {
	t.Helper()
	cluster.Refresh(t, app)
	if len(app.Status.Runs) != 1 || app.Status.Runs[0].Result != result {
		return fmt.Errorf("the runs are %v", app.Status.Runs)
	}
	return nil
}

// A leader that dies while the task runs is followed by another one, which waits for the task that runs, and starts no other.
func TestAReleaseTaskUnderAnotherLeader(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	counted := countRuns(t, namespace)
	compete := func() *harness.Process {
		return harness.Run(t, cluster.Kubeconfig, "--watch-namespaces="+namespace, "--leader-elect", "--leader-election-namespace="+namespace)
	}
	first := compete()
	app := migrated(namespace)
	cluster.CreateReady(t, app)
	second := compete()
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image = "shop:2"
		scriptTask(app, runsOn)
	})
	task := taskPod(t, namespace)
	leader := leaderOf(t, namespace, "")
	first.Kill()
	leaderOf(t, namespace, leader)
	require.Equal(t, "shop:1", imageOf(t, app))
	succeeds(t, task)
	cluster.Ready(t, app)
	require.Equal(t, "shop:2", imageOf(t, app))
	require.NoError(t, counted.are("shop:1", "shop:2"))
	second.Kill()
}

// leaderOf waits until a manager other than the given one leads, and returns it.
func leaderOf(t *testing.T, namespace, not string) (holder string) {
	t.Helper()
	harness.Eventually(t, "somebody leads", func() error {
		list := &coordinationv1.LeaseList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, lease := range list.Items {
			if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" && *lease.Spec.HolderIdentity != not {
				holder = *lease.Spec.HolderIdentity
				return nil
			}
		}
		return errors.New("nobody does, or still the one before")
	})
	return holder
}

// A return that was recorded and not yet written is completed although the next version, with a task, came meanwhile.
func TestAReturnIsCompletedWhileTheNextTaskRuns(t *testing.T) {
	t.Parallel()
	namespace, proxy := cluster.Namespace(t), cluster.NewProxy(t)
	app := migrated(namespace)
	app.Spec.Ports[0].NodePort = nil
	app.Spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn, AfterTask: true}
	first := harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace)
	cluster.CreateReady(t, app)
	crash := &harness.Crash{Write: 2, Committed: true, Kill: first.Kill, At: func(r harness.Request) bool {
		return r.Verb == "create" && strings.HasSuffix(strings.SplitN(r.Path, "?", 2)[0], "/secrets")
	}}
	proxy.CrashAt(crash)
	cluster.Change(t, app, func(app *v1.AppService) {
		notThere(&app.Spec)
		app.Spec.PodAnnotations[jobScript] = "{phase: Succeeded, containerStatuses: []}"
		app.Spec.Image = "shop:2"
	})
	harness.Eventually(t, "it dies", func() error {
		select {
		case <-first.Ended():
			return nil
		default:
			return errors.New("it lives")
		}
	})
	proxy.Disarm()
	require.Equal(t, "shop:2", imageOf(t, app))
	cluster.Change(t, app, func(app *v1.AppService) {
		scriptTask(app, runsOn)
		app.Spec.Image = "shop:3"
	})
	harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace)
	task := taskPod(t, namespace)
	harness.Eventually(t, "the earlier version runs again", func() error { return want("image", imageOf(t, app), "shop:1") })
	succeeds(t, task)
	cluster.Ready(t, app)
	require.Equal(t, "shop:3", imageOf(t, app))
}

// fromSecrets takes all keys of Secrets into the environment.
func fromSecrets(names ...string) (list []corev1.EnvFromSource) {
	for _, name := range names {
		list = append(list, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
	}
	return list
}

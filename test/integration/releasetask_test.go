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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
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
func migrated(namespace, image string) *v1.AppService {
	app := harness.Seed(namespace, "shop")
	app.Spec.Image = image
	app.Spec.Config = &v1.Config{Environment: map[string]v1.ConfigValue{"VERSION": v1.ConfigValue(image)}}
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

// The task runs before the first pod, then before the first pod of each new version, and meanwhile the version before is kept:
// its pods see nothing of the new configuration, and it is repaired and scaled.
func TestAReleaseTaskRunsBeforeTheFirstPodOfAVersion(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace, "shop:1")
	scriptTask(app, runsOn)
	cluster.Create(t, app)
	first := taskPod(t, namespace)
	require.Empty(t, imageOf(t, app), "the Deployment is there before the task has ended")
	condition := cluster.Condition(t, app, v1.ConditionReconciling, "True", "")
	require.Contains(t, condition.Message, "stage before: Job shop-release-")
	succeeds(t, first)
	cluster.Ready(t, app)
	require.NoError(t, noted(t, app, v1.RunComplete))

	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image, app.Spec.Config.Environment["VERSION"] = "shop:2", "shop:2"
	})
	second := taskPod(t, namespace)
	require.Equal(t, "shop:2", second.Spec.Containers[0].Image)
	require.Equal(t, "shop:1", imageOf(t, app))
	config := &corev1.ConfigMap{}
	cluster.Get(t, types.NamespacedName{Namespace: namespace, Name: "shop-config"}, config)
	require.Equal(t, "shop:1", config.Data["VERSION"])
	cluster.Get(t, types.NamespacedName{Namespace: namespace, Name: "shop-release"}, config)
	require.Equal(t, "shop:2", config.Data["VERSION"])

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](3) })
	deployment := &appsv1.Deployment{}
	harness.Eventually(t, "the version before has 3 replicas", func() error {
		cluster.Get(t, client.ObjectKeyFromObject(app), deployment)
		return want("replicas", int(ptr.Deref(deployment.Spec.Replicas, 1)), 3)
	})
	service := &corev1.Service{}
	cluster.Get(t, client.ObjectKeyFromObject(app), service)
	before := service.UID
	cluster.Delete(t, service)
	harness.Eventually(t, "its Service is created again", func() error {
		err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), service)
		if err == nil && service.UID == before {
			err = errors.New("it is still to go")
		}
		return err
	})
	require.Equal(t, "shop:1", imageOf(t, app))
	succeeds(t, second)
	cluster.Ready(t, app)
	require.Equal(t, "shop:2", imageOf(t, app))
	require.NoError(t, counted.are("shop:1", "shop:2"))
}

// A change of other fields does not run the task again.
func TestAReleaseTaskRunsOnce(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace, "shop:1")
	app.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "mail"}}}}
	secret := &corev1.Secret{StringData: map[string]string{"PASSWORD": "one"}}
	secret.Namespace, secret.Name = namespace, "mail"
	cluster.Create(t, secret)
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Size, app.Spec.CommonLabels = ptr.To[int32](1), map[string]v1.Label{"team": "a"}
	})
	cluster.Ready(t, app)
	cluster.Patch(t, app, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"app.example.com/restarted-at":"now"}}}`)))
	harness.Eventually(t, "its pods restart", func() error {
		deployment := &appsv1.Deployment{}
		cluster.Get(t, client.ObjectKeyFromObject(app), deployment)
		if deployment.Spec.Template.Annotations[v1.AnnotationRestartedAt] != "now" {
			return errors.New("not yet")
		}
		return nil
	})
	cluster.Patch(t, secret, client.RawPatch(types.MergePatchType, []byte(`{"stringData":{"PASSWORD":"two"}}`)))
	for _, job := range jobsOf(t, namespace) {
		cluster.Delete(t, &job, client.PropagationPolicy("Background"))
	}
	manager.Rest(t)
	cluster.Ready(t, app)
	manager.Stop(t)
	cluster.Manager(t, namespace)
	cluster.Ready(t, app)
	require.NoError(t, counted.are("shop:1"))
}

// A task that fails changes nothing that runs, says what it said, and runs again on request.
func TestAReleaseTaskThatFails(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace, "shop:1")
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image = "shop:2"
		scriptTask(app, fails)
	})
	harness.Eventually(t, "it says why", func() error {
		stalled := cluster.Condition(t, app, v1.ConditionStalled, "True", v1.ReasonJobFailed)
		for _, part := range []string{"stage before: Job shop-release-", "relation users already exists", "the previous version still serves"} {
			if !strings.Contains(stalled.Message, part) {
				return errors.New(stalled.Message)
			}
		}
		return nil
	})
	require.NoError(t, noted(t, app, v1.RunFailed))
	require.Equal(t, v1.PhaseDegraded, app.Status.Phase)
	require.Equal(t, "shop:1", imageOf(t, app))
	deployed, err := cluster.ConditionNow(t.Context(), app, v1.ConditionDeployed)
	require.NoError(t, err)
	require.Equal(t, "False", string(deployed.Status), deployed.Message)
	deployment := &appsv1.Deployment{}
	cluster.Get(t, client.ObjectKeyFromObject(app), deployment)
	template := deployment.Spec.Template.DeepCopy()

	restart := func(value string) {
		cluster.Patch(t, app, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"app.example.com/restarted-at":%q}}}`, value)))
	}
	restart("again")
	harness.Eventually(t, "it runs again", func() error { return counted.are("shop:1", "shop:2", "shop:2") })
	harness.Eventually(t, "it fails again", func() error { return noted(t, app, v1.RunFailed) })
	manager.Rest(t)
	cluster.Get(t, client.ObjectKeyFromObject(app), deployment)
	require.Equal(t, template, &deployment.Spec.Template, "what failed has restarted pods")

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.PodAnnotations = nil })
	manager.Rest(t)
	require.NoError(t, counted.are("shop:1", "shop:2", "shop:2"), "labels have run it again")
	restart("once more")
	cluster.Ready(t, app)
	require.Equal(t, "shop:2", imageOf(t, app))
	require.NoError(t, counted.are("shop:1", "shop:2", "shop:2", "shop:2"))
}

// A task is skipped if the annotation names what it would run, and never for another reason.
func TestAReleaseTaskThatIsSkipped(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace, "shop:1")
	cluster.CreateReady(t, app)
	digest := app.Status.Runs[0].Digest
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "shop:2" })
	cluster.Ready(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image, app.Annotations = "shop:1", map[string]string{v1.AnnotationSkipTask: digest}
	})
	cluster.Ready(t, app)
	require.NoError(t, noted(t, app, v1.RunSkipped))
	require.Equal(t, "shop:1", imageOf(t, app))
	cluster.Change(t, app, func(app *v1.AppService) { app.Annotations = nil })
	manager.Rest(t)
	require.NoError(t, counted.are("shop:1", "shop:2"))
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image, app.Annotations = "shop:3", map[string]string{v1.AnnotationSkipTask: digest}
	})
	cluster.Ready(t, app)
	require.NoError(t, counted.are("shop:1", "shop:2", "shop:3"))
}

// A release that the API server refuses runs no task.
func TestNoReleaseTaskRunsForWhatIsRefused(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace, "shop:1")
	cluster.CreateReady(t, app)
	other := &corev1.ConfigMap{}
	other.Namespace, other.Name = namespace, "shop-files"
	cluster.Create(t, other)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image, app.Spec.Config.Files = "shop:2", map[string]v1.ConfigValue{"a": "b"}
	})
	cluster.Condition(t, app, v1.ConditionReady, "False", v1.ReasonResourceExists)
	manager.Rest(t)
	require.NoError(t, counted.are("shop:1"))
	require.Equal(t, "shop:1", imageOf(t, app))
	cluster.Delete(t, other)
	cluster.Ready(t, app)
	require.NoError(t, counted.are("shop:1", "shop:2"))
}

// The objects that the task needs exist before it: its account, and nothing of the application.
func TestAReleaseTaskHasWhatItNeeds(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := migrated(namespace, "shop:1")
	app.Spec.ServiceAccount = &v1.ServiceAccount{}
	scriptTask(app, runsOn)
	cluster.Create(t, app)
	pod := taskPod(t, namespace)
	require.Equal(t, "shop", pod.Spec.ServiceAccountName)
	list := &corev1.ConfigMapList{}
	cluster.List(t, list, client.InNamespace(namespace), client.HasLabels{v1.LabelManaged})
	for _, config := range list.Items {
		require.True(t, strings.HasPrefix(config.Name, "shop-release"), "%s is there", config.Name)
	}
	succeeds(t, pod)
	cluster.Ready(t, app)
}

// Changes by a task stay when an earlier release runs again: that takes a second field.
func TestAReturnAfterAReleaseTask(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace, "shop:1")
	app.Spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn}
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		notThere(&app.Spec)
		app.Spec.Image = "shop:2"
		app.Spec.PodAnnotations[jobScript] = "{phase: Succeeded, containerStatuses: []}"
	})
	harness.Eventually(t, "it says why it is kept", func() error {
		condition := cluster.Condition(t, app, v1.ConditionReady, "False", v1.ReasonImageNotFound)
		if text := fmt.Sprint(condition.Message, app.Status.Problems); !strings.Contains(text, "the release task ran, and spec.onFailure.afterTask is not set") {
			return errors.New(text)
		}
		return nil
	})
	manager.Rest(t)
	require.Equal(t, "shop:2", imageOf(t, app))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.OnFailure.AfterTask = true })
	returned(t, app, 2, 1)
	require.Equal(t, "shop:1", imageOf(t, app))
	manager.Rest(t)
	require.NoError(t, counted.are("shop:1", "shop:2"))
}

// After a return, the task of the next version has its own configuration and account, each of them written once.
func TestTheReleaseTaskAfterAReturn(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace, "shop:1")
	app.Spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn, AfterTask: true}
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		notThere(&app.Spec)
		app.Spec.PodAnnotations[jobScript] = "{phase: Succeeded, containerStatuses: []}"
		app.Spec.Image, app.Spec.Config.Environment["VERSION"] = "shop:2", "shop:2"
	})
	returned(t, app, 2, 1)
	cluster.Change(t, app, func(app *v1.AppService) {
		scriptTask(app, runsOn)
		app.Spec.Image, app.Spec.Config.Environment["VERSION"] = "shop:3", "shop:3"
		app.Spec.ServiceAccount = &v1.ServiceAccount{}
	})
	task := taskPod(t, namespace)
	of := client.ObjectKey{Namespace: namespace, Name: "shop-release"}
	config, account := &corev1.ConfigMap{}, &corev1.ServiceAccount{}
	cluster.Get(t, of, config)
	get(t, app, account)
	require.Equal(t, "shop:3", config.Data["VERSION"])
	manager.Rest(t)
	later, same := &corev1.ConfigMap{}, &corev1.ServiceAccount{}
	cluster.Get(t, of, later)
	get(t, app, same)
	require.Equal(t, config.ResourceVersion, later.ResourceVersion, "its configuration was written again")
	require.Equal(t, account.UID, same.UID, "its account was made again")
	require.Equal(t, "shop:1", imageOf(t, app))
	succeeds(t, task)
	cluster.Ready(t, app)
	require.Equal(t, "shop:3", imageOf(t, app))
	require.NoError(t, counted.are("shop:1", "shop:2", "shop:3"))
}

// A Secret or a name that only the version before lacks keeps no version away that has a task: the status warns of it
// while the task runs.
func TestWhatOnlyTheVersionBeforeLacksHoldsBackNoReleaseTask(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lose, change func(t *testing.T, app *v1.AppService)
		reason       string
	}{
		"a Secret is gone": {
			lose: func(t *testing.T, app *v1.AppService) {
				cluster.Delete(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "one"}})
			},
			change: func(_ *testing.T, app *v1.AppService) { app.Spec.EnvFrom = fromSecrets("two") },
			reason: v1.ReasonDependencyMissing,
		},
		"another object has a name": {
			lose: func(t *testing.T, app *v1.AppService) {
				config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "shop-config"}}
				cluster.Delete(t, config.DeepCopy())
				cluster.Create(t, config)
			},
			change: func(_ *testing.T, app *v1.AppService) { app.Spec.Config = nil },
			reason: v1.ReasonResourceExists,
		},
		"its record is damaged": {
			lose: func(t *testing.T, app *v1.AppService) {
				record := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "sh.helm.release.v1.shop.v1"}}
				cluster.Patch(t, record, client.RawPatch(types.MergePatchType, []byte(`{"stringData":{"release":"damaged"}}`)))
			},
			change: func(*testing.T, *v1.AppService) {},
			reason: v1.ReasonRecordDamaged,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, manager := cluster.ManagedNamespace(t)
			counted := countRuns(t, namespace)
			for _, name := range []string{"one", "two"} {
				cluster.Create(t, secret(namespace, name, "KEY"))
			}
			app := migrated(namespace, "shop:1")
			app.Spec.EnvFrom = fromSecrets("one")
			cluster.CreateReady(t, app)
			manager.Stop(t)
			test.lose(t, app)
			cluster.Change(t, app, func(app *v1.AppService) {
				app.Spec.Image = "shop:2"
				scriptTask(app, runsOn)
				test.change(t, app)
			})
			cluster.Manager(t, namespace)
			task := taskPod(t, namespace)
			harness.Eventually(t, "the status warns", func() error {
				cluster.Refresh(t, app)
				if !slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool {
					return p.Type == v1.ProblemWarning && p.Reason == test.reason && strings.HasPrefix(p.Message, "the running release is not kept as it is: ")
				}) {
					return fmt.Errorf("got the problems %+v", app.Status.Problems)
				}
				return nil
			})
			succeeds(t, task)
			cluster.Ready(t, app)
			require.Equal(t, "shop:2", imageOf(t, app))
			require.NoError(t, counted.are("shop:1", "shop:2"))
			require.Empty(t, app.Status.Problems)
		})
	}
}

// fromSecrets takes all keys of Secrets into the environment.
func fromSecrets(names ...string) (list []corev1.EnvFromSource) {
	for _, name := range names {
		list = append(list, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
	}
	return list
}

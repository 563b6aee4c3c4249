//go:build cluster

package integration

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/internal/plugin/history"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// notThere has pods whose image does not exist.
var notThere = scripted(waits("ImagePullBackOff", `Back-off pulling image "x:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "x:1": not found`, "", 0), "")

// returning is an AppService that asks to return.
func returning(namespace, name string) *v1.AppService {
	app := harness.Seed(namespace, name)
	app.Spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn}
	return app
}

// returned waits until an AppService has returned from a release to another one, and checks that its spec is as it was written.
func returned(t *testing.T, app *v1.AppService, from, to int) {
	t.Helper()
	spec := app.Spec.DeepCopy()
	says := fmt.Sprintf("release %d failed, release %d runs again", from, to)
	harness.Eventually(t, says, func() error {
		condition, err := now(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonReturnedToRelease)
		if err == nil && !strings.Contains(condition.Message, says) {
			err = fmt.Errorf("the message is %q", condition.Message)
		}
		return err
	})
	assert.Equal(t, *spec, app.Spec, "the spec is another one")
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonReturnedToRelease)
	cluster.Condition(t, app, v1.ConditionDeployed, metav1.ConditionFalse, v1.ReasonReturnedToRelease)
	assert.Equal(t, from+1, app.Status.Release.Revision)
	assert.Equal(t, app.Generation, app.Status.ObservedGeneration)
}

// The return is a release like others: it is listed, and undo takes its spec.
func TestAReturnIsInTheHistory(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := returning(namespace, "web")
	app.Spec.Image = "nginx:1"
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		notThere(&app.Spec)
		app.Spec.Image = "nginx:0"
	})
	returned(t, app, 2, 1)
	stored, past := pastOf(t, app, 3)
	last := past[2]
	if last.ChangedBy != "(release 2 failed)" || !strings.HasPrefix(last.Failed, v1.ReasonImageNotFound) || last.Description != "Return from release 2 to release 1" ||
		!strings.Contains(strings.Join(last.Changes, "; "), "spec.image nginx:0 → nginx:1") {
		t.Errorf("it says %+v", last)
	}
	plan, err := history.PlanUndo(stored, past, 0)
	require.NoError(t, err)
	require.NoError(t, plan.Write(t.Context(), cluster.Client, "kubectl-appservice", false))
	cluster.Ready(t, app)
	assert.Equal(t, "nginx:1", app.Spec.Image)
	assert.Equal(t, 3, app.Status.Release.Revision, "what runs already is released again")
}

// Today's policy holds for an earlier release, too: against it, nothing is written, and Ready says why.
func TestAReleaseThatFailsIsKept(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/policy.yaml"
	files.Write(t, file, "{}\n")
	namespace := cluster.Namespace(t)
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.Policy = file })
	app := returning(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.TerminationGracePeriodSeconds = ptr.To[int64](100)
	cluster.CreateReady(t, app)
	files.Write(t, file, "namespaces:\n- names: ['*']\n  maxTerminationSeconds: 50\n")
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	cluster.Change(t, app, func(app *v1.AppService) {
		notThere(&app.Spec)
		app.Spec.TerminationGracePeriodSeconds = nil
	})
	harness.Eventually(t, "the failed release is kept", func() error {
		condition, err := now(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonImageNotFound)
		if err == nil && !strings.Contains(condition.Message, "the failed release is kept: violates the ") {
			err = fmt.Errorf("the message is %q", condition.Message)
		}
		return err
	})
	manager.Rest(t)
	assert.NotEmpty(t, deployment(t, app).Spec.Template.Annotations["script.kwok.x-k8s.io/status"], "what failed was changed")
	assert.Equal(t, 2, app.Status.Release.Revision)
	assert.NoError(t, records(t, app, 1)) // one that is deployed
}

// A chart with which resources fail is taken back from them, and halted for the others.
func TestAChartThatFailsIsTakenBackAndHalted(t *testing.T) {
	t.Parallel()
	const count = 5
	namespace, first := cluster.ManagedNamespace(t)
	createMany(t, namespace, count)
	waitForAll(t, namespace, count, func(app *v1.AppService) error { return want("phase", app.Status.Phase, v1.PhaseRunning) })
	for i := range count {
		cluster.Change(t, harness.Seed(namespace, nameOf(i)), func(app *v1.AppService) { app.Spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn} })
	}
	waitForAll(t, namespace, count, func(app *v1.AppService) error {
		return want("generation", app.Status.ObservedGeneration, app.Generation)
	})
	first.Stop(t)

	refused := fmt.Sprintf("merge (dict %q `%s`)", "script.kwok.x-k8s.io/status", waits("ImagePullBackOff", `Back-off pulling image "x:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "x:1": not found`, "", 0))
	cluster.Manager(t, namespace, withChart(t, "templates/_pod.tpl", "merge (dict)", refused), func(options *operator.Options, _ *harness.Requests) {
		options.MaxConcurrentRollouts, options.MaxFailedRollouts, options.RolloutDeadline = 1, 1, time.Hour
	})
	harness.Eventually(t, "the chart is halted", func() error {
		back, halted := 0, 0
		for i := range count {
			app := harness.Seed(namespace, nameOf(i))
			if err := present(t, app); err != nil {
				return err
			}
			for _, problem := range app.Status.Problems {
				switch {
				case strings.Contains(problem.Message, "release 2 failed, release 1 runs again"):
					back++
				case strings.Contains(problem.Message, "is halted: "):
					halted++
				}
			}
			if _, err := now(t, app, v1.ConditionReady, metav1.ConditionTrue, v1.ReasonRunning); err != nil {
				return err
			}
		}
		if back != 2 || halted != count-2 {
			return fmt.Errorf("%d went back, and %d are held back", back, halted)
		}
		return nil
	})
}

// A StatefulSet waits for a pod that never becomes ready, whatever its template says by then, unless its pods start all at once.
func TestReplicasWithVolumesReturn(t *testing.T) {
	t.Parallel()
	for _, policy := range []appsv1.PodManagementPolicyType{appsv1.ParallelPodManagement, appsv1.OrderedReadyPodManagement} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			namespace, _ := cluster.ManagedNamespace(t)
			app := stateful(namespace, harness.StaticVolumes)
			app.Spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn}
			app.Spec.Persistence.PodManagementPolicy = policy
			app.Spec.Persistence.WhenScaled = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
			cluster.CreateReady(t, app)
			cluster.Change(t, app, func(app *v1.AppService) { notThere(&app.Spec) })
			returned(t, app, 2, 1)
			if policy == appsv1.OrderedReadyPodManagement {
				deletesAsTold(t, app)
			}
			set := &appsv1.StatefulSet{}
			harness.Eventually(t, "all replicas are of the earlier release again", func() error {
				get(t, app, set)
				if set.Status.ReadyReplicas != 2 || set.Status.CurrentRevision != set.Status.UpdateRevision {
					return fmt.Errorf("got %+v", set.Status)
				}
				return nil
			})
		})
	}
}

// deletesAsTold deletes the pod that holds up a StatefulSet, once the status names it.
func deletesAsTold(t *testing.T, app *v1.AppService) {
	t.Helper()
	harness.Eventually(t, "the status names the pod", func() error {
		condition, err := now(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonReturnedToRelease)
		if err == nil && !strings.Contains(condition.Message, "not ready either: pod web-1") {
			err = fmt.Errorf("the message is %q", condition.Message)
		}
		if err == nil && !slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool { return strings.Contains(p.Hint, "delete pod web-1") }) {
			err = fmt.Errorf("no hint says so: %+v", app.Status.Problems)
		}
		return err
	})
	cluster.Delete(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "web-1"}})
}

// Objects with data that a chart no longer renders stay, whatever else happens, and the status lists them; they go with the
// next release of a changed spec, unless that refers to them.
func TestANewChartDeletesNoData(t *testing.T) {
	t.Parallel()
	again := func(t *testing.T, app *v1.AppService, manager *harness.Manager, options func(*operator.Options, *harness.Requests)) {
		manager.Stop(t)
		cluster.Manager(t, app.Namespace, options).Rest(t)
	}
	for name, test := range map[string]struct {
		then func(t *testing.T, app *v1.AppService, manager *harness.Manager, options func(*operator.Options, *harness.Requests))
		goes bool
		with bool // the chart comes with another spec, while no operator runs
	}{
		"the spec changes with the chart": {with: true, then: func(*testing.T, *v1.AppService, *harness.Manager, func(*operator.Options, *harness.Requests)) {}},
		"the spec changes": {then: func(t *testing.T, app *v1.AppService, _ *harness.Manager, _ func(*operator.Options, *harness.Requests)) {
			cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:2" })
		}, goes: true},
		"its size changes": {then: func(t *testing.T, app *v1.AppService, _ *harness.Manager, _ func(*operator.Options, *harness.Requests)) {
			cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](3) })
		}},
		"the spec refers to them": {then: func(t *testing.T, app *v1.AppService, _ *harness.Manager, _ func(*operator.Options, *harness.Requests)) {
			cluster.Change(t, app, func(app *v1.AppService) {
				app.Spec.EnvFrom = fromSecrets("web-key")
				app.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "web-data"}}}}
				app.Spec.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
			})
		}},
		"another process finds it paused": {then: func(t *testing.T, app *v1.AppService, manager *harness.Manager, options func(*operator.Options, *harness.Requests)) {
			cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = true })
			again(t, app, manager, options)
			cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = false })
		}},
		"a spec is refused, and taken back": {then: func(t *testing.T, app *v1.AppService, manager *harness.Manager, options func(*operator.Options, *harness.Requests)) {
			image := app.Spec.Image
			cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "Not/An/Image" })
			cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonImageNameInvalid)
			again(t, app, manager, options)
			cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = image })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			dir := chartWith(t, "templates/data.yaml", `
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}-key, annotations: {app.example.com/generate: KEY=24}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-note}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: {{ .Release.Name }}-data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: `+harness.StaticVolumes+`}
`)
			options := func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir }
			manager := cluster.Manager(t, namespace, options)
			app := harness.Seed(namespace, "web")
			app.Spec.Ports[0].NodePort = nil
			cluster.CreateReady(t, app)
			if test.with {
				manager.Stop(t)
				cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:2" })
			}
			files.Write(t, filepath.Join(dir, "helm-charts/appservice/templates/data.yaml"), "")
			if test.with {
				manager = cluster.Manager(t, namespace, options)
			}
			harness.Eventually(t, "the new chart has come", func() error { return gone(t, namespace, "web-note", &corev1.ConfigMap{}) })
			kept := func() {
				t.Helper()
				cluster.Ready(t, app)
				claim := &corev1.PersistentVolumeClaim{}
				cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: "web-key"}, &corev1.Secret{})
				cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: "web-data"}, claim)
				assert.Nil(t, claim.DeletionTimestamp)
				assert.Equal(t, 2, strings.Count(fmt.Sprint(app.Status.Resources), "kept for its data"))
			}
			manager.Rest(t)
			kept()
			test.then(t, app, manager, options)
			cluster.Ready(t, app)
			if !test.goes {
				kept()
				return
			}
			harness.Eventually(t, "they are gone", func() error {
				return errors.Join(gone(t, namespace, "web-key", &corev1.Secret{}), gone(t, namespace, "web-data", &corev1.PersistentVolumeClaim{}))
			})
		})
	}
}

// A release that differs from the last that was Ready only in annotations that restart pods is kept, also if values were
// made again in between.
func TestARestartAfterARotationIsKept(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := generating(namespace)
	app.Spec.Size, app.Spec.MinReadySeconds = ptr.To[int32](1), ptr.To[int32](60) // the pod that is edited below is not available before
	app.Spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn}
	cluster.CreateReady(t, app)
	deleteKey(t, generatedOf(t, app), "KEY")
	harness.Eventually(t, "the pods roll", func() error {
		return want("version", deployment(t, app).Spec.Template.Annotations[v1.AnnotationGeneratedVersion], "web-generated=1.1")
	})
	cluster.Ready(t, app)
	manager.Rest(t)
	cluster.Change(t, app, func(app *v1.AppService) { app.Annotations = map[string]string{v1.AnnotationRestartedAt: "now"} })
	var pod *corev1.Pod
	harness.Eventually(t, "its new pod runs", func() error {
		for _, one := range podsFor(t, app) {
			if one.Annotations[v1.AnnotationRestartedAt] == "now" && one.Status.Phase == corev1.PodRunning {
				pod = &one
				return nil
			}
		}
		return errors.New("not yet")
	})
	running := pod.DeepCopy()
	for i := range pod.Status.Conditions {
		if kind := pod.Status.Conditions[i].Type; kind == corev1.PodReady || kind == corev1.ContainersReady {
			pod.Status.Conditions[i].Status = corev1.ConditionFalse
		}
	}
	pod.Status.ContainerStatuses[0].Ready, pod.Status.ContainerStatuses[0].RestartCount = false, 5
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	pod.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 1, Reason: "Error", FinishedAt: metav1.Now()}}
	require.NoError(t, cluster.Client.Status().Update(t.Context(), pod))
	harness.Eventually(t, "it is kept", func() error {
		condition, err := now(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonContainerCrashed)
		if err == nil && !strings.Contains(condition.Message, "differs only in what restarts pods") {
			err = fmt.Errorf("the message is %q", condition.Message)
		}
		return err
	})
	cluster.Get(t, client.ObjectKeyFromObject(pod), pod)
	pod.Status.Conditions, pod.Status.ContainerStatuses = running.Status.Conditions, running.Status.ContainerStatuses
	require.NoError(t, cluster.Client.Status().Update(t.Context(), pod))
	cluster.Ready(t, app)
}

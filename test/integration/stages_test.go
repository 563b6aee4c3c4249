//go:build cluster

package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// stagedJob is the template of a Job of a stage, which runs once for each change of its rendered spec. Its pods
// follow the script in the entry of spec.config.environment that has the name of the stage.
const stagedJob = `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-STAGE
  annotations: {app.example.com/stage: STAGE, app.example.com/rerun-on-change: "true"}
spec:
  backoffLimit: 0
  template:
    metadata:
      labels: {stage: STAGE, chart: "1"}
      {{- with .Values.config.environment.STAGE }}
      annotations: {script.kwok.x-k8s.io/jobs: {{ toJson . }}}
      {{- end }}
    spec:
      restartPolicy: Never
      containers: [{name: release, image: "{{ .Values.image }}-STAGE"}]
`

// stagedMain is the template of what serves between the stages.
const stagedMain = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name | quote }}}
spec:
  selector: {matchLabels: {app: {{ .Release.Name | quote }}}}
  template:
    metadata:
      labels: {app: {{ .Release.Name | quote }}}
      {{- with .Values.config.environment.main }}
      annotations: {script.kwok.x-k8s.io/status: {{ toJson . }}}
      {{- end }}
    spec:
      containers: [{name: app, image: {{ .Values.image | quote }}}]
`

// stagedCharts is a folder of charts in which AppJob is another kind: a Job before a Deployment, and one after it.
func stagedCharts(t *testing.T) string {
	t.Helper()
	dir := files.Charts(t)
	templates := filepath.Join(dir, "helm-charts/appjob/templates")
	require.NoError(t, os.RemoveAll(templates))
	for _, stage := range []string{"before", "after"} {
		files.Write(t, filepath.Join(templates, stage+".yaml"), strings.ReplaceAll(stagedJob, "STAGE", stage))
	}
	files.Write(t, filepath.Join(templates, "main.yaml"), stagedMain)
	return dir
}

// servesStages starts a manager with such charts, and returns their folder.
func servesStages(t *testing.T, namespace string) string {
	t.Helper()
	dir := stagedCharts(t)
	cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir, options.MaxConcurrentRollouts = dir, 1
	})
	return dir
}

// inStages returns a resource of the kind with stages.
func inStages(namespace, name string) *unstructured.Unstructured {
	resource := appJob(namespace, map[string]any{"image": "shop:1"})
	resource.SetName(name)
	return resource
}

// scriptStages sets what the pods of some stages do; of others, they do well.
func scriptStages(t *testing.T, resource *unstructured.Unstructured, image string, scripts map[string]any) {
	t.Helper()
	before := resource.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(resource.Object, image, "spec", "image"))
	require.NoError(t, unstructured.SetNestedMap(resource.Object, map[string]any{"environment": scripts}, "spec", "config"))
	if resource.GetUID() != "" {
		cluster.Patch(t, resource, client.MergeFrom(before))
	}
}

// runningPods are the pods of the Jobs of a stage that run.
func runningPods(t *testing.T, namespace string, labels client.MatchingLabels) (running []corev1.Pod) {
	t.Helper()
	pods := &corev1.PodList{}
	cluster.List(t, pods, client.InNamespace(namespace), labels)
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			running = append(running, pod)
		}
	}
	return running
}

// runningPod waits until exactly one pod of a stage runs.
func runningPod(t *testing.T, namespace string, labels client.MatchingLabels) *corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	harness.Eventually(t, fmt.Sprintf("a pod with %v runs", labels), func() error {
		pods = runningPods(t, namespace, labels)
		return want("pods", len(pods), 1)
	})
	return &pods[0]
}

// mainOf returns the Deployment of a resource of the kind with stages; nil if there is none.
func mainOf(t *testing.T, resource client.Object) *appsv1.Deployment {
	t.Helper()
	main := &appsv1.Deployment{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(resource), main); err != nil {
		require.NoError(t, client.IgnoreNotFound(err))
		return nil
	}
	return main
}

// isAvailable returns an error unless a Deployment runs an image with all its replicas.
func isAvailable(main *appsv1.Deployment, image string) error {
	switch {
	case main == nil:
		return errors.New("there is no Deployment")
	case main.Spec.Template.Spec.Containers[0].Image != image:
		return fmt.Errorf("it has the image %s", main.Spec.Template.Spec.Containers[0].Image)
	}
	return want("available replicas", main.Status.AvailableReplicas, ptr.Deref(main.Spec.Replicas, 1))
}

// isNotReady waits until Ready is False with a reason, and the status has parts of a message.
func isNotReady(t *testing.T, resource *unstructured.Unstructured, reason string, parts ...string) {
	t.Helper()
	harness.Eventually(t, "Ready is False "+reason, func() error {
		if err := present(t, resource); err != nil {
			return err
		}
		if err := stands(resource, map[string]string{v1.ConditionReady: "False " + reason}); err != nil {
			return err
		}
		for _, part := range parts {
			if text := fmt.Sprint(resource.Object["status"]); !strings.Contains(text, part) {
				return fmt.Errorf("the status does not say %q: %s", part, text)
			}
		}
		return nil
	})
}

// A Job of the stage before runs before anything else is there, and one of the stage after once the rest is ready.
func TestTheStagesOfAChartFollowOneAnother(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	counted := countRuns(t, namespace)
	servesStages(t, namespace)
	shop := inStages(namespace, "shop")
	scriptStages(t, shop, "shop:1", map[string]any{"before": runsOn, "main": waits("ImagePullBackOff", "Back-off pulling image", "", 0)})
	cluster.Create(t, shop)
	task := runningPod(t, namespace, client.MatchingLabels{"stage": "before"})
	require.Nil(t, mainOf(t, shop), "the main stage has begun")
	succeeds(t, task)
	harness.Eventually(t, "the main stage has begun", func() error {
		if mainOf(t, shop) == nil {
			return errors.New("not yet")
		}
		return nil
	})
	isNotReady(t, shop, v1.ReasonImagePullFailed)
	require.NoError(t, counted.are("shop:1-before"), "the stage after has begun before the main stage is ready")

	available := make(chan error, 1)
	reads := shop.DeepCopy() // the function runs while the test reads shop
	counted.when("shop:1-after", func() { available <- isAvailable(mainOf(t, reads), "shop:1") })
	scriptStages(t, shop, "shop:1", map[string]any{"before": runsOn})
	becomesReady(t, shop)
	require.NoError(t, <-available)
	require.NoError(t, counted.are("shop:1-before", "shop:1-after"))
}

// A Job of the stage after that fails is reported, and the objects of that time stay and are repaired; the Job runs
// again on request, that of the stage before does not.
func TestAStageAfterThatFails(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	counted := countRuns(t, namespace)
	servesStages(t, namespace)
	shop := inStages(namespace, "shop")
	cluster.Create(t, shop)
	becomesReady(t, shop)
	scriptStages(t, shop, "shop:2", map[string]any{"after": string(fails)})
	isNotReady(t, shop, v1.ReasonJobFailed, "Job shop-after-", "relation users already exists")
	require.NoError(t, counted.are("shop:1-before", "shop:1-after", "shop:2-before", "shop:2-after"))
	main := mainOf(t, shop)
	require.NoError(t, isAvailable(main, "shop:2"))

	uid := main.UID
	cluster.Delete(t, main)
	harness.Eventually(t, "it is created again", func() error {
		if main := mainOf(t, shop); main == nil || main.UID == uid {
			return errors.New("not yet")
		}
		return isAvailable(mainOf(t, shop), "shop:2")
	})
	cluster.Patch(t, shop, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"app.example.com/restarted-at":"now"}}}`)))
	harness.Eventually(t, "it runs again", func() error {
		return counted.are("shop:1-before", "shop:1-after", "shop:2-before", "shop:2-after", "shop:2-after")
	})
	isNotReady(t, shop, v1.ReasonJobFailed)
	require.NoError(t, isAvailable(mainOf(t, shop), "shop:2"))
}

// A new version of a chart that changes its Job of the stage before comes to a few resources at a time, and changes
// nothing of the others.
func TestANewChartWithAnotherStageBeforeComesToAFewAtATime(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, dir string){
		"with the pods of the main stage": func(t *testing.T, dir string) {
			replaceIn(t, filepath.Join(dir, "helm-charts/appjob/templates/main.yaml"), "labels: {app:", `labels: {chart: "2", app:`)
		},
		"and nothing else": func(*testing.T, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			dir := servesStages(t, namespace)
			shops := map[string]*unstructured.Unstructured{}
			for _, name := range []string{"one", "two", "three"} {
				shops[name] = inStages(namespace, name)
				cluster.Create(t, shops[name])
			}
			for _, shop := range shops {
				becomesReady(t, shop)
			}
			change(t, dir)
			replaceIn(t, filepath.Join(dir, "helm-charts/appjob/templates/before.yaml"), `labels: {stage: before, chart: "1"}`,
				fmt.Sprintf("labels: {stage: before, chart: \"2\"}\n      annotations: {script.kwok.x-k8s.io/jobs: '%s'}", runsOn))
			for range shops {
				pod := runningPod(t, namespace, client.MatchingLabels{"chart": "2", "stage": "before"})
				for _, shop := range shops {
					require.NoError(t, isAvailable(mainOf(t, shop), "shop:1"))
				}
				harness.Eventually(t, "the others wait for their turn", func() error { return want("resources that wait", turns(t, shops), len(shops)-1) })
				require.Len(t, runningPods(t, namespace, client.MatchingLabels{"chart": "2", "stage": "before"}), 1)
				name := strings.SplitN(pod.Name, "-", 2)[0]
				require.Contains(t, shops, name)
				succeeds(t, pod)
				becomesReady(t, shops[name])
				delete(shops, name)
			}
		})
	}
}

// turns returns how many resources wait for their turn.
func turns(t *testing.T, resources map[string]*unstructured.Unstructured) (waiting int) {
	t.Helper()
	for _, resource := range resources {
		require.NoError(t, present(t, resource))
		if strings.Contains(fmt.Sprint(resource.Object["status"]), "waits for its turn") {
			waiting++
		}
	}
	return waiting
}

// replaceIn changes a file of a chart.
func replaceIn(t *testing.T, path, before, after string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), before)
	files.Write(t, path, strings.Replace(string(text), before, after, 1))
}

// A Job of the stage after runs, also if the chart has no other one.
func TestAStageAfterWithoutAnyOtherJob(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	counted := countRuns(t, namespace)
	dir := stagedCharts(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "helm-charts/appjob/templates/before.yaml")))
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir })
	shop := inStages(namespace, "shop")
	cluster.Create(t, shop)
	becomesReady(t, shop)
	require.NoError(t, counted.are("shop:1-after"))
	scriptStages(t, shop, "shop:2", nil)
	becomesReady(t, shop)
	manager.Rest(t)
	require.NoError(t, counted.are("shop:1-after", "shop:2-after"))
}

// A Secret that a Job of the stage before says that it makes is not waited for until that Job has run, and is after it.
func TestAStageBeforeMakesWhatTheMainStageNeeds(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	counted := countRuns(t, namespace)
	dir := stagedCharts(t)
	templates := filepath.Join(dir, "helm-charts/appjob/templates")
	require.NoError(t, os.Remove(filepath.Join(templates, "after.yaml")))
	replaceIn(t, filepath.Join(templates, "before.yaml"), `app.example.com/rerun-on-change: "true"`,
		`app.example.com/rerun-on-change: "true", app.example.com/makes: "ConfigMap/shop-other, Secret/shop-certificate"`)
	replaceIn(t, filepath.Join(templates, "main.yaml"), "containers: [{name: app,", `volumes: [{name: certificate, secret: {secretName: shop-certificate}}]
      containers: [{name: app, volumeMounts: [{name: certificate, mountPath: /certificate}],`)
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir })
	shop := inStages(namespace, "shop")
	scriptStages(t, shop, "shop:1", map[string]any{"before": runsOn})
	cluster.Create(t, shop)
	task := runningPod(t, namespace, client.MatchingLabels{"stage": "before"})
	require.Nil(t, mainOf(t, shop))
	succeeds(t, task)
	isNotReady(t, shop, v1.ReasonDependencyMissing, `Secret "shop-certificate" does not exist`)
	require.Nil(t, mainOf(t, shop), "the main stage has begun without its Secret")
	made := secret(namespace, "shop-certificate", "tls.crt")
	cluster.Create(t, made)
	becomesReady(t, shop)
	require.NoError(t, isAvailable(mainOf(t, shop), "shop:1"))
	cluster.Delete(t, made)
	isNotReady(t, shop, v1.ReasonDependencyMissing, `Secret "shop-certificate" does not exist`)
	manager.Rest(t)
	require.NoError(t, counted.are("shop:1-before"))
}

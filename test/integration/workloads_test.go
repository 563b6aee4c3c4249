//go:build cluster

package integration

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// script is the behavior of simulated pods of a chart, as its values say; empty for pods that become ready.
const script = `annotations: { {{- with .Values.script }}script.kwok.x-k8s.io/status: {{ . | quote }}{{ end -}} }`

// The templates of charts without a Deployment.
const (
	jobTemplate = `apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  backoffLimit: 0
  template:
    metadata:
      ` + script + `
    spec:
      restartPolicy: Never
      containers: [{name: app, image: "x:1"}]
`
	cronJobTemplate = `apiVersion: batch/v1
kind: CronJob
metadata: {name: backup}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        metadata:
          ` + script + `
        spec:
          restartPolicy: Never
          containers: [{name: app, image: "x:1"}]
`
	statefulSetTemplate = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata:
      labels: {app: db}
      ` + script + `
    spec:
      containers: [{name: app, image: "x:1"}]
`
	daemonSetTemplate = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata:
      labels: {app: agent}
      ` + script + `
    spec:
      containers: [{name: app, image: "x:1"}]
`
)

// rendering has a manager serve Widgets that render workloads.
func rendering(t *testing.T, templates ...string) func(*operator.Options, *harness.Requests) {
	t.Helper()
	files := map[string]string{"charts/widget/Chart.yaml": widgetCharts["charts/widget/Chart.yaml"]}
	for i, template := range templates {
		files[fmt.Sprintf("charts/widget/templates/%d.yaml", i)] = template
	}
	return charted(t, files, "")
}

var noImage = waits("ImagePullBackOff", `Back-off pulling image "x:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "x:1": not found`, "", 0)

func TestPodsOfEachKindAreDiagnosed(t *testing.T) {
	t.Parallel()
	failed := fmt.Sprintf(`{phase: Failed, %s, containerStatuses: [{name: app, image: x, imageID: "", ready: false, started: false, restartCount: 0, state: {terminated: {exitCode: 3, reason: Error, message: %q, startedAt: NOW, finishedAt: NOW}}}]}`,
		unreadyPod, "connecting\npanic: no database")
	for name, test := range map[string]struct {
		template, script string
		quota            bool
		reason, message  string
	}{
		"a Job that fails":             {jobTemplate, failed, false, v1.ReasonJobFailed, `Job migrate failed after all attempts (BackoffLimitExceeded): container "app" ended with exit code 3: panic: no database`},
		"a CronJob whose run fails":    {cronJobTemplate, failed, false, v1.ReasonJobFailed, `the last run of CronJob backup failed (Job backup-…): container "app" ended with exit code 3: panic: no database`},
		"a Job whose image is missing": {jobTemplate, noImage, false, v1.ReasonImageNotFound, `Job migrate: image "x:1" cannot be pulled: the registry does not have it`},
		"a StatefulSet without image":  {statefulSetTemplate, noImage, false, v1.ReasonImageNotFound, `image "x:1" cannot be pulled: the registry does not have it`},
		"a StatefulSet without quota":  {statefulSetTemplate, "", true, v1.ReasonQuotaExceeded, `no more pods: ResourceQuota "none" is used up`},
		"a Job without quota":          {jobTemplate, "", true, v1.ReasonQuotaExceeded, `Job migrate: no more pods: ResourceQuota "none" is used up`},
		"a DaemonSet that crashes":     {daemonSetTemplate, waits("CrashLoopBackOff", "back-off 10s", ended("Error", 3, "no license"), 2), false, v1.ReasonContainerCrashed, `container "app" crashes with exit code 3: no license`},
		"a DaemonSet without quota":    {daemonSetTemplate, "", true, v1.ReasonQuotaExceeded, `no more pods: ResourceQuota "none" is used up`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			if test.quota {
				noPods(t, namespace)
			}
			manager := cluster.Unbound().Manager(t, namespace, rendering(t, test.template))
			widget := newWidget(namespace, "w", map[string]any{"script": test.script})
			cluster.Create(t, widget)
			tells(t, widget, test.reason, test.message)
			if forbidden := manager.Requests.Forbidden(); len(forbidden) > 0 {
				t.Errorf("got the requests %v, which are forbidden", forbidden)
			}
		})
	}
}

func TestWorkloadsThatAreWellAreNotLookedAt(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	manager := cluster.Unbound().Manager(t, namespace, rendering(t, jobTemplate, statefulSetTemplate, daemonSetTemplate))
	widget := newWidget(namespace, "w", map[string]any{})
	cluster.Create(t, widget)
	harness.Eventually(t, "all of it is well", func() error {
		if problems, err := problemsOf(t, widget); err != nil || len(problems) > 0 {
			return fmt.Errorf("got the problems %v (error %w)", problems, err)
		}
		list, _, _ := unstructured.NestedSlice(widget.Object, "status", "resources")
		ready := 0
		for _, entry := range list {
			if is, _, _ := unstructured.NestedBool(entry.(map[string]any), "ready"); is {
				ready++
			}
		}
		if err := want("ready objects", ready, 3); err != nil {
			return err
		}
		return stands(widget, map[string]string{v1.ConditionReady: "True " + v1.ReasonRunning})
	})
	manager.Rest(t)
	mark := manager.Requests.Mark()
	before := widget.DeepCopy()
	widget.SetAnnotations(map[string]string{"example.com/note": "x"}) // causes a reconcile
	cluster.Patch(t, widget, client.MergeFrom(before))
	manager.Rest(t)
	if requests := manager.Requests.OfObjectsSince(mark); len(requests) > 0 {
		t.Errorf("got the requests %v, want none while all is well", requests)
	}
}

// A StatefulSet that creates pods in order does not replace one that never became ready.
func TestAPodThatHoldsUpALaterVersionIsTold(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	cluster.Unbound().Manager(t, namespace, rendering(t, statefulSetTemplate))
	widget := newWidget(namespace, "w", map[string]any{"script": noImage})
	cluster.Create(t, widget)
	tells(t, widget, v1.ReasonImageNotFound, `image "x:1" cannot be pulled`)
	before := widget.DeepCopy()
	unstructured.RemoveNestedField(widget.Object, "spec", "script")
	cluster.Patch(t, widget, client.MergeFrom(before))
	tells(t, widget, v1.ReasonImageNotFound, `pod db-0 of an earlier version blocks the rollout: image "x:1" cannot be pulled`)
	cluster.Delete(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "db-0"}})
	harness.Eventually(t, "nothing is wrong any more", func() error {
		problems, err := problemsOf(t, widget)
		if err != nil {
			return err
		}
		if err := want("problems", len(problems), 0); err != nil {
			return err
		}
		return stands(widget, map[string]string{v1.ConditionReady: "True " + v1.ReasonRunning})
	})
}

// tells waits until the only problem of a Widget is an error whose message begins with these words; "…" stands for anything.
func tells(t *testing.T, widget *unstructured.Unstructured, reason, message string) {
	t.Helper()
	harness.Eventually(t, "the status says why", func() error {
		problems, err := problemsOf(t, widget)
		if err != nil {
			return err
		}
		begin, end, _ := strings.Cut(message, "…")
		if len(problems) != 1 || problems[0]["type"] != string(v1.ProblemError) || problems[0]["reason"] != reason ||
			!strings.HasPrefix(problems[0]["message"], begin) || !strings.Contains(problems[0]["message"], end) {
			return fmt.Errorf("got the problems %v", problems)
		}
		return stands(widget, map[string]string{v1.ConditionReady: "False " + reason, v1.ConditionStalled: "True " + reason})
	})
}

// stands returns an error unless a resource has these conditions, by type: status and reason.
func stands(resource *unstructured.Unstructured, wanted map[string]string) error {
	list, _, err := unstructured.NestedSlice(resource.Object, "status", "conditions")
	got := map[string]string{}
	for _, entry := range list {
		entry, _ := entry.(map[string]any)
		if kind := fmt.Sprint(entry["type"]); wanted[kind] != "" {
			got[kind] = fmt.Sprintf("%v %v", entry["status"], entry["reason"])
		}
	}
	if err == nil && !maps.Equal(got, wanted) {
		err = fmt.Errorf("got the conditions %v, want %v", got, wanted)
	}
	return err
}

// problemsOf reads a Widget again, and returns its problems.
func problemsOf(t *testing.T, widget *unstructured.Unstructured) ([]map[string]string, error) {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(widget), widget); err != nil {
		return nil, err
	}
	list, _, err := unstructured.NestedSlice(widget.Object, "status", "problems")
	var problems []map[string]string
	for _, entry := range list {
		problem := map[string]string{}
		for key, value := range entry.(map[string]any) {
			problem[key] = fmt.Sprint(value)
		}
		problems = append(problems, problem)
	}
	return problems, err
}

// Charts without a Deployment are ready when what they render is.
func TestChartsWithoutADeploymentBecomeReady(t *testing.T) {
	t.Parallel()
	claim := `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {app.example.com/ready-when: '%s'}}
spec: {accessModes: [ReadWriteOnce], storageClassName: nobody, resources: {requests: {storage: 1Gi}}}
`
	for name, test := range map[string]struct {
		template      string
		ready, reason string
	}{
		"a Job that is complete":                    {jobTemplate, "True", v1.ReasonComplete},
		"a CronJob before its first run":            {strings.Replace(cronJobTemplate, `"* * * * *"`, `"0 0 29 2 *"`, 1), "True", v1.ReasonRunning},
		"a DaemonSet":                               {daemonSetTemplate, "True", v1.ReasonRunning},
		"a claim that never binds":                  {strings.ReplaceAll(claim, ", annotations: {app.example.com/ready-when: '%s'}", ""), "False", v1.ReasonDependencyMissing},
		"a claim that need not be bound":            {fmt.Sprintf(claim, "true"), "True", v1.ReasonNoWorkload},
		"a claim of which its pending state counts": {fmt.Sprintf(claim, `self.status.phase == "Pending"`), "True", v1.ReasonNoWorkload},
		"a claim whose expression is not true":      {fmt.Sprintf(claim, `self.status.phase == "Bound"`), "False", v1.ReasonResourceNotReady},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			cluster.Unbound().Manager(t, namespace, rendering(t, test.template))
			widget := newWidget(namespace, "w", map[string]any{})
			cluster.Create(t, widget)
			cluster.Becomes(t, "it stands as it should", widget, func() error {
				return stands(widget, map[string]string{v1.ConditionReady: test.ready + " " + test.reason})
			})
		})
	}
}

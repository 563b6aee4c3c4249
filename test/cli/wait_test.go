//go:build cluster

package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

func TestWaitEndsAtReadyOrAtWhatStaysWrong(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	u.applyFile(t, "testdata/app.yaml")
	out := u.must(t, 0, "kubectl appservice wait web")
	assert.Contains(t, out, "appservice/web  ")
	assert.Contains(t, out, "2 ready")

	app := harness.Seed(u.namespace, "web")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = true })
	assert.Contains(t, u.must(t, 1, "kubectl appservice wait web"), "reconciles are paused: kubectl appservice resume web")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = false })
	u.must(t, 0, "kubectl appservice wait web")

	crash(t, app)
	out = u.must(t, 1, "kubectl appservice wait web")
	assert.Contains(t, out, "ContainerCrashed")
	assert.Contains(t, out, "Ready=False", "what why says follows")

	got := u.run(t, "kubectl appservice wait other", nil)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "resource does not exist")
	got = u.run(t, "kubectl appservice wait web --timeout=1ns", nil)
	assert.Equal(t, 1, got.code)
}

func TestLogsAreOfTheNewestPods(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := u.web(t)
	const line = "a simulated container writes this line only"
	out := u.must(t, 0, "kubectl appservice logs web")
	assert.Equal(t, 2, strings.Count(out, line), "of two pods:\n%s", out)
	assert.Contains(t, out, "[pod/web-")
	for flag, want := range map[string]string{"--previous": "no container of web was started again", "--task": "no Job of a release of web has pods"} {
		got := u.run(t, "kubectl appservice logs web "+flag, nil)
		assert.Equal(t, 1, got.code, flag)
		assert.Contains(t, got.stderr, want)
	}
	crash(t, app)
	assert.Contains(t, u.must(t, 0, "kubectl appservice logs web --previous"), line)
}

// A restart changes no generation: until its pods are there, the status is about those before.
func TestWaitIsForARestart(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	before := cluster.Manager(t, u.namespace)
	u.web(t)
	before.Stop(t)
	u.must(t, 0, "kubectl appservice restart web")
	assert.Contains(t, u.must(t, 1, "kubectl appservice wait web --timeout=3s"), "the restart has not ended yet")
	cluster.Manager(t, u.namespace)
	u.must(t, 0, "kubectl appservice wait web")
	pods := &corev1.PodList{}
	cluster.List(t, pods, client.InNamespace(u.namespace))
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			assert.NotEmpty(t, pod.Annotations[v1.AnnotationRestartedAt], pod.Name)
		}
	}
}

// A Secret may be created a moment later.
func TestWaitIsForAMissingSecret(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := harness.Seed(u.namespace, "web")
	app.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "database"}}}}
	cluster.Create(t, app)
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonDependencyMissing)
	u.must(t, 0, "kubectl create secret generic database; kubectl appservice wait web")
}

func TestLogsOfAJobThatHasEnded(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := harness.Seed(u.namespace, "web")
	app.Spec.Ports[0].NodePort, app.Spec.Release = nil, &v1.ReleaseTask{Command: []string{"migrate"}}
	cluster.CreateReady(t, app)
	u.must(t, 0, "kubectl apply -f config/samples/app_v1_appjob.yaml")
	job := u.must(t, 0, "kubectl get appjobs -o name")
	name := strings.TrimSpace(strings.ReplaceAll(job, "appjob.app.example.com", "appjob"))
	u.must(t, 0, "kubectl appservice wait "+name)
	for _, of := range []string{"web --task", name} {
		assert.Contains(t, u.must(t, 0, "kubectl appservice logs "+of), "a simulated container writes this line only", of)
	}
}

//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// trouble is a change after which no pod runs.
type trouble struct {
	// hinder prepares an obstacle before the change; nil if the change alone is at fault.
	hinder func(t *testing.T, app *v1.AppService)
	change func(*v1.AppServiceSpec)

	reason  string
	message []string
	hint    string
	// same says that the pods stay the same: there is no previous version.
	same bool
	// later is the status that the pods take after the rollout is complete.
	later string
}

// Reports of the kubelet about containers, as scripts for simulated pods (tools/controlplane/stages.yaml): YAML in one line.
const (
	unreadyPod = `conditions: [{type: Initialized, status: "True"}, {type: Ready, status: "False", lastTransitionTime: NOW}, {type: ContainersReady, status: "False"}]`
	readyPod   = `conditions: [{type: Initialized, status: "True"}, {type: Ready, status: "True", lastTransitionTime: NOW}, {type: ContainersReady, status: "True"}]`
)

// waits is the status of a pod whose container waits.
func waits(reason, message, last string, restarts int) string {
	return fmt.Sprintf(`{phase: Pending, %s, containerStatuses: [{name: app, image: x, imageID: "", ready: false, started: false, restartCount: %d, state: {waiting: {reason: %s, message: %q}}%s}]}`,
		unreadyPod, restarts, reason, message, last)
}

// ended is the last state of a container that ended.
func ended(reason string, code int, message string) string {
	return fmt.Sprintf(`, lastState: {terminated: {exitCode: %d, reason: %s, message: %q, startedAt: NOW, finishedAt: NOW}}`, code, reason, message)
}

// runs is the status of a pod whose container runs.
func runs(conditions, step string, isReady bool, last string, restarts int) string {
	return fmt.Sprintf(`{phase: Running, reason: %q, %s, containerStatuses: [{name: app, image: x, imageID: "", ready: %t, started: true, restartCount: %d, state: {running: {startedAt: NOW}}%s}]}`,
		step, conditions, isReady, restarts, last)
}

// scripted has simulated pods follow a script.
func scripted(status, then string) func(*v1.AppServiceSpec) {
	return func(s *v1.AppServiceSpec) {
		s.PodAnnotations = map[string]v1.Annotation{"script.kwok.x-k8s.io/status": v1.Annotation(status)}
		if then != "" {
			s.PodAnnotations["script.kwok.x-k8s.io/then"] = v1.Annotation(then)
		}
	}
}

var troubleRows = map[string]trouble{
	"an image that is not there": {
		change: scripted(waits("ImagePullBackOff", `Back-off pulling image "x:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "x:1": not found`, "", 0), ""),
		reason: v1.ReasonImageNotFound, message: []string{"cannot be pulled", "does not have it"}, hint: "spec.image",
	},
	"a container that crashes": {
		change: scripted(waits("CrashLoopBackOff", "back-off 10s", ended("Error", 3, "connecting\npanic: no database"), 2), ""),
		reason: v1.ReasonContainerCrashed, message: []string{"exit code 3", "panic: no database"}, hint: "logs",
	},
	"a container that uses too much memory": {
		change: func(s *v1.AppServiceSpec) {
			scripted(waits("CrashLoopBackOff", "back-off 10s", ended("OOMKilled", 137, ""), 2), "")(s)
			s.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}
		},
		reason: v1.ReasonOutOfMemory, message: []string{"64Mi"}, hint: "limits.memory",
	},
	"a readiness probe that fails": {
		change: func(s *v1.AppServiceSpec) {
			scripted(runs(unreadyPod, "", false, "", 0), "")(s)
			s.Probes = &v1.Probes{Readiness: &v1.ReadinessProbe{Probe: v1.Probe{PeriodSeconds: ptr.To[int32](2), HTTPGet: &v1.HTTPGetProbe{Path: "/healthz"}}}}
		},
		reason: v1.ReasonReadinessProbeFailing, message: []string{"GET :80/healthz"}, hint: "probes.readiness",
	},
	"pods that no node takes": {
		change: func(s *v1.AppServiceSpec) { s.NodeSelector = map[string]v1.Label{"disk": "fast"} },
		reason: v1.ReasonUnschedulable, message: []string{"no node can run the pod", "match spec.nodeSelector"}, hint: "spec.nodeSelector",
	},
	"a quota that is used up": {
		hinder: func(t *testing.T, app *v1.AppService) { noPods(t, app.Namespace) },
		change: func(s *v1.AppServiceSpec) { s.Image = "nginx:2" },
		reason: v1.ReasonQuotaExceeded, message: []string{`ResourceQuota "none"`, "pods are used"}, hint: "quota",
	},
	"pods that begin to crash later": {
		change: scripted(runs(readyPod, "1", true, "", 0), ""),
		later:  waits("CrashLoopBackOff", "back-off 10s", ended("Error", 1, "out of file descriptors"), 3),
		reason: v1.ReasonContainerCrashed, message: []string{"exit code 1", "out of file descriptors"}, hint: "logs", same: true,
	},
}

func TestDiagnosis(t *testing.T) {
	t.Parallel()
	for name, row := range troubleRows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testTrouble(t, row)
		})
	}
}

func testTrouble(t *testing.T, row trouble) {
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	base := app.Spec.DeepCopy()
	if row.hinder != nil {
		row.hinder(t, app)
	}
	mark, start := manager.Requests.Mark(), time.Now()
	cluster.Change(t, app, func(app *v1.AppService) { row.change(&app.Spec) })
	if row.later != "" {
		cluster.Ready(t, app)
		follows(t, app, row.later)
	}
	condition := cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, row.reason)
	t.Logf("seen after %s: %s", time.Since(start).Round(time.Millisecond), condition.Message)
	manager.Rest(t)
	harness.Eventually(t, "the status says why", func() error { // a first look at pods shows whether the previous version is reached
		return saysWhy(t, app, row)
	})
	assert.NoError(t, records(t, app, 1))
	if app.Status.Release.Revision != 2 {
		t.Errorf("got release %d, want 2: a rollout that is stuck is no reason for another", app.Status.Release.Revision)
	}
	t.Logf("%d status writes, %d looks at pods", statusWrites(manager.Requests.WritesSince(mark)), looks(manager.Requests.Since(mark)))
	if t.Failed() {
		return
	}

	start = time.Now()
	cluster.Change(t, app, func(app *v1.AppService) { base.DeepCopyInto(&app.Spec) })
	cluster.Ready(t, app)
	t.Logf("recovered after %s", time.Since(start).Round(time.Millisecond))
	if len(app.Status.Problems) > 0 {
		t.Errorf("there are still problems: %+v", app.Status.Problems)
	}
}

// follows sets a status that the pods of an AppService take after their present one.
func follows(t *testing.T, app *v1.AppService, status string) {
	t.Helper()
	pods := &corev1.PodList{}
	cluster.List(t, pods, client.InNamespace(app.Namespace))
	for i := range pods.Items {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"script.kwok.x-k8s.io/then":%q}}}`, status)
		if err := cluster.Client.Patch(t.Context(), &pods.Items[i], client.RawPatch(types.MergePatchType, []byte(patch))); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
}

// saysWhy returns an error unless the status reports a trouble as it should.
func saysWhy(t *testing.T, app *v1.AppService, row trouble) error {
	condition, err := now(t, app, v1.ConditionReady, metav1.ConditionFalse, row.reason)
	if err != nil {
		return err
	}
	for _, part := range row.message {
		if !strings.Contains(condition.Message, part) {
			return fmt.Errorf("the message lacks %q: %s", part, condition.Message)
		}
	}
	if len(app.Status.Problems) == 0 || app.Status.Problems[0].Reason != row.reason || !strings.Contains(app.Status.Problems[0].Hint, row.hint) {
		return fmt.Errorf("got the problems %+v, want %s first, with a hint of %q", app.Status.Problems, row.reason, row.hint)
	}
	available, phase, serves := metav1.ConditionTrue, v1.PhaseDegraded, true
	if row.same {
		available, phase, serves = metav1.ConditionFalse, v1.PhaseFailed, false
	}
	if strings.HasSuffix(condition.Message, "; rollout stalled, the previous version still serves") != serves {
		return fmt.Errorf("the previous version serves: %t; the message is %q", serves, condition.Message)
	}
	if _, err := now(t, app, v1.ConditionAvailable, available, ""); err != nil {
		return fmt.Errorf("available: %w", err)
	}
	return want("phase", app.Status.Phase, phase)
}

func statusWrites(requests []harness.Request) int {
	count := 0
	for _, request := range requests {
		if strings.HasSuffix(request.Path, "/status") {
			count++
		}
	}
	return count
}

// looks counts how often pods were listed.
func looks(requests []harness.Request) int {
	count := 0
	for _, request := range requests {
		if strings.HasSuffix(request.Path, "/pods") {
			count++
		}
	}
	return count
}

func TestWhatIsWellIsNotLookedAt(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	const count = 5
	for i := range count {
		app := harness.Seed(namespace, fmt.Sprintf("web-%d", i))
		cluster.Create(t, app)
	}
	for i := range count {
		cluster.Ready(t, harness.Seed(namespace, fmt.Sprintf("web-%d", i)))
	}
	manager.Rest(t)
	mark := manager.Requests.Mark()
	for i := range count { // causes a reconcile
		cluster.Change(t, harness.Seed(namespace, fmt.Sprintf("web-%d", i)), func(app *v1.AppService) {
			app.Annotations = map[string]string{"example.com/note": "x"}
		})
	}
	manager.Rest(t)
	if requests := manager.Requests.OfObjectsSince(mark); len(requests) > 0 {
		t.Errorf("got the requests %v, want none while all is well", requests)
	}
}

func TestARestartOfTheOperatorChangesNoDiagnosis(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	troubleRows["an image that is not there"].change(&app.Spec)
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonImageNotFound)
	if want := v1.PhaseFailed; app.Status.Phase != want {
		t.Errorf("got phase %s, want %s: nothing serves", app.Status.Phase, want)
	}
	first.RestWithStatus(t)
	first.Stop(t)
	second := cluster.Manager(t, namespace)
	harness.Eventually(t, "the new operator looks at pods", func() error {
		return want("looks", looks(second.Requests.Since(0)) > 0, true)
	})
	second.Rest(t)
	if got := statusWrites(second.Requests.WritesSince(0)); got > 0 {
		t.Errorf("it wrote the status %d times, though nothing has changed", got)
	}
	if after := cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, ""); after.Message != condition.Message {
		t.Errorf("got %q, before %q", after.Message, condition.Message)
	}
}

func TestACrashLoopDoesNotFlap(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](1)
	// It seems ready for 2 s, then it waits for 6 s, and so on.
	scripted(runs(readyPod, "1", true, ended("Error", 1, "no license"), 4),
		strings.Replace(waits("CrashLoopBackOff", "back-off 10s", ended("Error", 1, "no license"), 4), "phase: Pending", `phase: Running, reason: "2"`, 1))(&app.Spec)
	cluster.Create(t, app)
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonContainerCrashed)
	mark, begin, pod := manager.Requests.Mark(), time.Now(), podOf(t, app)
	flips, was := 0, pod.Status.Reason
	harness.Eventually(t, "the container starts and ends three times", func() error {
		if now := podOf(t, app).Status.Reason; now != was {
			flips, was = flips+1, now
		}
		if _, err := now(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonContainerCrashed); err != nil {
			t.Fatalf("after %d changes of the pod: %v", flips, err)
		}
		return want("changes", flips >= 6, true)
	})
	// A change of the pod brings the next diagnosis forward, but never closer to the one before than 5 s.
	got, most := looks(manager.Requests.Since(mark)), 2+int(time.Since(begin)/(5*time.Second))
	if got > most {
		t.Errorf("pods were listed %d times, want %d at most", got, most)
	}
	t.Logf("pods were listed %d times during %d changes", got, flips)
}

func podOf(t *testing.T, app *v1.AppService) *corev1.Pod {
	t.Helper()
	list := &corev1.PodList{}
	if err := cluster.Client.List(t.Context(), list, client.InNamespace(app.Namespace)); err != nil || len(list.Items) != 1 {
		t.Fatalf("got %d pods (error %v), want 1", len(list.Items), err)
	}
	return &list.Items[0]
}

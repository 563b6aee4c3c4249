//go:build cluster

package scenario

import (
	stderrors "errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// tasked is an AppService with a release task, which has a configuration of its own.
const tasked = small + `
config: {environment: {GREETING: hello}}
release: {command: [migrate]}
`

// jobScript is the annotation of the pods of Jobs that says what the simulated node does with them.
const jobScript = "script.kwok.x-k8s.io/jobs"

// The release tasks of a new version that do not end well on their own.
var (
	newVersion = with(tasked, `image: nginx:1.27`)
	failing    = with(newVersion, following(jobScript, `{phase: Failed, containerStatuses: [{name: release, image: x, imageID: "", ready: false, restartCount: 0, `+
		`state: {terminated: {exitCode: 3, reason: Error, message: relation users already exists, startedAt: NOW, finishedAt: NOW}}}]}`))
	runsLong = with(newVersion, following(jobScript, `{phase: Running, containerStatuses: [{name: release, image: x, imageID: "", ready: true, started: true, `+
		`restartCount: 0, state: {running: {startedAt: NOW}}}]}`))
)

// lateTasks are the incidents in which the operator sees AppServices, or the Jobs of their tasks, as they were.
func lateTasks() []incident {
	changed, again := with(tasked, `image: nginx:1.27`), with(tasked, `image: nginx:1.28`)
	var list []incident
	for _, late := range []string{"appservices", "jobs"} {
		list = append(list,
			incident{"task/restarted-late/" + late, func(s *scene) { s.restartsLate(late, tasked, changed) }},
			incident{"task/frozen/" + late + "/changed", func(s *scene) { s.frozenWhile(late, tasked, changed) }},
			incident{"task/frozen/" + late + "/there-and-back", func(s *scene) { s.frozenWhile(late, tasked, changed, tasked) }},
			incident{"task/frozen/" + late + "/twice", func(s *scene) { s.frozenWhile(late, tasked, changed, again) }},
		)
	}
	return append(list,
		incident{"task/killed/while-it-runs", func(s *scene) { s.killedDuringTask(false) }},
		incident{"task/killed/when-it-ends", func(s *scene) { s.killedDuringTask(true) }},
	)
}

// killedDuringTask kills the operator again and again while a task runs. The task ends while another operator runs, or while none does.
func (s *scene) killedDuringTask(endsMeanwhile bool) {
	s.with(tasked)
	s.serves()
	s.want(runsLong)
	for range 3 {
		s.taskRuns(s.T)
		s.process.incarnation.Die()
		s.process.revive()
		s.process.Synced(s.T)
		s.still()
	}
	if endsMeanwhile {
		s.stop()
	}
	s.passes(s.T)
	s.fault()
	if endsMeanwhile {
		s.start()
	}
	s.becomesReady() // with the image of the new version
	s.recovered()
}

// serves expects a pod to be available from now on.
func (s *scene) serves() { seen.serves(s.namespace) }

// taskRuns waits until the release task has a pod that runs, and returns it.
func (s *stage) taskRuns(t *testing.T) (running *corev1.Pod) {
	t.Helper()
	harness.Eventually(t, "the task runs", func() error {
		pods := &corev1.PodList{}
		if err := cluster.Client.List(t.Context(), pods, client.InNamespace(s.namespace), client.MatchingLabels{"app.kubernetes.io/name": "appservice-release"}); err != nil {
			return err
		}
		for i := range pods.Items {
			if pod := &pods.Items[i]; pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
				running = pod
				return nil
			}
		}
		return stderrors.New("it has no pod that does")
	})
	return running
}

// passes ends the pod of a release task well. Until then, the version that it belongs to must not be rolled out.
func (s *stage) passes(t *testing.T) {
	t.Helper()
	pod := s.taskRuns(t)
	seen.mayRollOut(s.namespace, pod.Spec.Containers[0].Image)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`))
	if err := cluster.Client.Status().Patch(t.Context(), pod, patch); err != nil {
		t.Fatal(err)
	}
}

// mayRollOut records that the task of an image ends well.
func (w *world) mayRollOut(namespace, image string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ledgers[namespace].waits, image)
}

// waitsFor records that the task of an AppService does not end well on its own.
func (l *ledger) waitsFor(app *unstructured.Unstructured) {
	image, _, _ := unstructured.NestedString(app.Object, "spec", "image")
	script, follows, _ := unstructured.NestedString(app.Object, "spec", "podAnnotations", jobScript)
	if follows && app.GetKind() == v1.Kind && !strings.Contains(script, "Succeeded") {
		l.waits[image] = true
	}
}

// noteRollout notes that a version is rolled out whose task has not ended well.
func (l *ledger) noteRollout(deployment *unstructured.Unstructured) {
	if image := imageIn(deployment); l.waits[image] {
		l.early = append(l.early, fmt.Sprintf("%s at version %s", image, deployment.GetResourceVersion()))
	}
}

// taskScenarios are changes of an AppService with a release task, whose runs are counted as those of AppJobs are.
var taskScenarios = []scenario{
	{name: "task-first", task: true, steps: []step{{spec: tasked}}},
	{name: "task-new-image", task: true, given: []step{{spec: tasked}}, steps: []step{{spec: with(tasked, `image: nginx:1.27`)}}},
	{name: "task-new-args", task: true, given: []step{{spec: tasked}}, steps: []step{{spec: with(tasked, `release: {args: [--all]}`)}}},
	{name: "task-there-and-back", task: true, given: []step{{spec: tasked}}, steps: []step{{spec: with(tasked, `image: nginx:1.27`)}, {spec: tasked}}},
	{name: "task-on", task: true, given: []step{{spec: small}}, steps: []step{{spec: tasked}}},
	{name: "task-fails", task: true, serves: true, given: []step{{spec: tasked}}, steps: []step{
		{spec: failing, ready: metav1.ConditionFalse, reason: v1.ReasonJobFailed, says: "exit code 3"}, {spec: with(tasked, `image: nginx:1.28`)},
	}},
	{name: "task-lasts", task: true, serves: true, given: []step{{spec: tasked}}, steps: []step{
		{spec: runsLong, ready: metav1.ConditionFalse, says: "Job web-release"}, {passes: true},
	}},
	{name: "task-off", task: true, given: []step{{spec: tasked}}, steps: []step{{spec: small}}},
}

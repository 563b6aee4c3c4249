//go:build cluster

package scenario

import (
	stderrors "errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

const (
	// tasked is an AppService with a release task, which has a configuration of its own.
	tasked = small + `
config: {environment: {GREETING: hello}}
release: {command: [migrate]}
`
	// mailing is one that takes a Secret, too.
	mailing = tasked + `
envFrom: [{secretRef: {name: mail}}]
`
	oldImage, newImage = "nginx:1.7.9", "nginx:1.27"
	runningImage       = "Deployment web.spec.template.spec.containers[0].image"
	// lasts is what Ready says of a version whose release task has not succeeded.
	lasts = "stage before: Job web-release-"
	// stillServes is what it says when a version failed.
	stillServes = "the previous version still serves"
)

// jobScript is the annotation of the pods of Jobs that says what the simulated node does with them.
const jobScript = "script.kwok.x-k8s.io/jobs"

var (
	newVersion = with(tasked, `image: nginx:1.27`)
	// The release tasks of these do not end well on their own.
	failing = with(newVersion, following(jobScript, `{phase: Failed, containerStatuses: [{name: release, image: x, imageID: "", ready: false, restartCount: 0, `+
		`state: {terminated: {exitCode: 3, reason: Error, message: relation users already exists, startedAt: NOW, finishedAt: NOW}}}]}`))
	runsLong = with(newVersion, following(jobScript, `{phase: Running, containerStatuses: [{name: release, image: x, imageID: "", ready: true, started: true, `+
		`restartCount: 0, state: {running: {startedAt: NOW}}}]}`))
	longTask = with(runsLong, `config: {environment: {GREETING: good day}}`)
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

// waitsFor records whether the task of an AppService does not end well on its own.
func (l *ledger) waitsFor(app *unstructured.Unstructured) {
	image, _, _ := unstructured.NestedString(app.Object, "spec", "image")
	script, follows, _ := unstructured.NestedString(app.Object, "spec", "podAnnotations", jobScript)
	delete(l.waits, image)
	if follows && app.GetKind() == v1.Kind && !strings.Contains(script, "Succeeded") {
		l.waits[image] = script
	}
}

// runsAgain reports whether an AppService asks once more for a task that has failed.
func (l *ledger) runsAgain(app *unstructured.Unstructured) bool {
	image, _, _ := unstructured.NestedString(app.Object, "spec", "image")
	return strings.Contains(l.waits[image], "Failed") && app.GetAnnotations()[v1.AnnotationRestartedAt] != l.again
}

// noteRollout notes that a version is rolled out, and if its task has not ended well.
func (l *ledger) noteRollout(deployment *unstructured.Unstructured) {
	image := imageIn(deployment)
	if l.waits[image] != "" {
		l.early = append(l.early, fmt.Sprintf("%s at version %s", image, deployment.GetResourceVersion()))
	}
	if l.rolled[image] == nil {
		l.rolled[image] = deployment
	}
}

// before lists the versions that were rolled out before their task began. Resource versions count the writes of all objects.
func (l *ledger) before() (early []string) {
	for image, deployment := range l.rolled {
		begun := slices.ContainsFunc(l.began, func(job *unstructured.Unstructured) bool {
			order, err := resourceversion.CompareResourceVersion(job.GetResourceVersion(), deployment.GetResourceVersion())
			return imageIn(job) == image && err == nil && order < 0
		})
		if !begun && !l.untasked[image] && l.kind == v1.Kind {
			early = append(early, image)
		}
	}
	return early
}

// taskScenarios are changes of an AppService with a release task, whose runs are counted as those of AppJobs are.
var taskScenarios = []scenario{
	{name: "task-first", task: true, steps: []step{{spec: tasked}}},
	{name: "task-new-image", task: true, deadly: true, given: []step{{spec: tasked}}, steps: []step{{spec: with(tasked, `image: nginx:1.27`)}}},
	{name: "task-new-args", task: true, given: []step{{spec: tasked}}, steps: []step{{spec: with(tasked, `release: {args: [--all]}`)}}},
	{name: "task-there-and-back", task: true, given: []step{{spec: tasked}}, steps: []step{{spec: with(tasked, `image: nginx:1.27`)}, {spec: tasked}}},
	{name: "task-on", task: true, given: []step{{spec: small}}, steps: []step{{spec: tasked}}},
	{name: "task-fails", task: true, serves: true, given: []step{{spec: tasked}}, steps: []step{
		{spec: failing, ready: metav1.ConditionFalse, reason: v1.ReasonJobFailed, says: stillServes, expect: failed(oldImage, newImage)},
		{spec: with(tasked, `image: nginx:1.28`), expect: expectation{runs: []string{oldImage, newImage, "nginx:1.28"}}},
	}},
	{name: "task-lasts", task: true, serves: true, given: []step{{spec: tasked}}, steps: []step{
		{spec: longTask, ready: metav1.ConditionFalse, says: lasts, expect: expectation{fields: map[string]string{
			runningImage: oldImage, "ConfigMap web-config.data.GREETING": "hello",
			"Job web-release-*.spec.template.spec.containers[0].image": newImage, "ConfigMap web-release.data.GREETING": "good day",
		}}},
		{remove: []string{"Service"}, ready: metav1.ConditionFalse, says: lasts, expect: expectation{same: true}},
		{spec: with(longTask, `size: 3`), ready: metav1.ConditionFalse, says: lasts, expect: expectation{
			fields: map[string]string{"Deployment web.spec.replicas": "3", runningImage: oldImage},
		}},
		{passes: true, expect: expectation{fields: map[string]string{runningImage: newImage}, runs: []string{oldImage, newImage}}},
	}},
	{name: "task-first-lasts", task: true, once: true, steps: []step{
		{spec: with(longTask, `serviceAccount: {}`), ready: metav1.ConditionFalse, says: lasts, expect: expectation{fields: map[string]string{
			"Job web-release-*.spec.template.spec.serviceAccountName": appName, "ServiceAccount web.kind": "ServiceAccount", "ConfigMap web-release.kind": "ConfigMap",
			"Deployment web.kind": "", "ConfigMap web-config.kind": "", "AppService web.status.conditions[Reconciling].status": "True",
		}}},
		{passes: true, expect: expectation{fields: map[string]string{"AppService web.status.runs[0].result": string(v1.RunComplete)}}},
	}},
	{name: "task-runs-once", task: true, once: true, given: []step{
		{create: map[string]string{"Secret/mail": `stringData: {PASSWORD: one}`}, spec: mailing},
	}, steps: []step{
		{spec: with(mailing, `{size: 2, commonLabels: {team: a}}`)},
		{edit: asksAgain("now"), expect: expectation{
			fields: map[string]string{"Deployment web.spec.template.metadata.annotations." + v1.AnnotationRestartedAt: "now"},
		}},
		{edit: map[string]string{"Secret/mail": `{"stringData":{"PASSWORD":"two"}}`}},
		{remove: []string{"Job/*"}},
		{offline: true, expect: expectation{same: true, requests: []string{}, runs: []string{oldImage}}},
	}},
	{name: "task-fails-and-runs-again", task: true, serves: true, once: true, given: []step{{spec: tasked}, {
		spec: failing, ready: metav1.ConditionFalse, reason: v1.ReasonJobFailed, says: lasts,
	}}, steps: []step{
		{edit: asksAgain("now"), ready: metav1.ConditionFalse, reason: v1.ReasonJobFailed, expect: failed(oldImage, newImage, newImage)},
		{spec: newVersion, ready: metav1.ConditionFalse, reason: v1.ReasonJobFailed, expect: failed(oldImage, newImage, newImage)},
		{edit: asksAgain("later"), expect: expectation{fields: map[string]string{runningImage: newImage}, runs: []string{oldImage, newImage, newImage, newImage}}},
	}},
	{name: "task-refused", task: true, once: true, given: []step{{spec: tasked}}, steps: []step{
		{
			create: map[string]string{"ConfigMap/web-files": `{}`}, spec: with(newVersion, `config: {files: {a: b}}`), ready: metav1.ConditionFalse,
			reason: v1.ReasonResourceExists, expect: expectation{fields: map[string]string{runningImage: oldImage}, runs: []string{oldImage}},
		},
		{remove: []string{"ConfigMap/web-files"}, expect: expectation{fields: map[string]string{runningImage: newImage}, runs: []string{oldImage, newImage}}},
	}},
	{name: "task-return-not-permitted", task: true, once: true, given: []step{{spec: taskReturns}}, steps: []step{
		{
			spec: with(cannotFollow, `onFailure: {afterTask: false}`), ready: metav1.ConditionFalse, reason: v1.ReasonImageNotFound,
			says:   "the release task ran, and spec.onFailure.afterTask is not set",
			expect: expectation{fields: map[string]string{runningImage: "nginx:0"}},
		},
		{spec: cannotFollow, ready: metav1.ConditionFalse, reason: v1.ReasonReturnedToRelease, says: "release 2 failed, release 1 runs again", expect: expectation{
			fields: map[string]string{runningImage: oldImage}, runs: []string{oldImage, "nginx:0"},
		}},
	}},
	{name: "task-after-return", task: true, serves: true, given: []step{{spec: taskReturns}, goesBack(cannotFollow)}, steps: []step{
		{spec: with(longTask, `serviceAccount: {}`), ready: metav1.ConditionFalse, says: lasts, expect: expectation{
			fields: map[string]string{"ConfigMap web-release.data.GREETING": "good day", runningImage: oldImage},
			requests: []string{
				"delete jobs/web-release-*", "patch configmaps/web-release", "patch jobs/web-release-*", "patch jobs/web-release-*", "patch serviceaccounts/web",
			},
		}},
		{passes: true, expect: expectation{fields: map[string]string{runningImage: newImage}, runs: []string{oldImage, "nginx:0", newImage}}},
	}},
	decays("secret", v1.ReasonDependencyMissing, step{remove: []string{"Secret/mail"}, spec: with(longTask, `{}`)}),
	decays("name", v1.ReasonResourceExists, step{
		remove: []string{"ConfigMap/web-config"}, create: map[string]string{"ConfigMap/web-config": `{}`}, spec: with(longTask, `config: null`),
	}),
	decays("record", v1.ReasonRecordDamaged, step{edit: map[string]string{recordOne: `{"stringData":{"release":"damaged"}}`}, spec: with(mailing, longTask)}),
	{name: "task-off", task: true, given: []step{{spec: tasked}}, steps: []step{{spec: small}}},
}

// decays is a version with a release task that comes when the running one lacks something that it does not need itself.
func decays(what, reason string, loses step) scenario {
	loses.offline, loses.ready, loses.says = true, metav1.ConditionFalse, lasts
	loses.expect.problems = []string{"Warning " + reason + ": the running release is not kept as it is: "}
	return scenario{
		name: "task-while-running-lacks-" + what, task: true, once: true,
		given: []step{{create: map[string]string{"Secret/mail": `stringData: {PASSWORD: one}`}, spec: mailing}},
		steps: []step{loses, {passes: true, expect: expectation{
			fields: map[string]string{runningImage: newImage}, runs: []string{oldImage, newImage}, problems: []string{},
		}}},
	}
}

// failed is what a task that failed leaves: all that runs is of the version before.
func failed(ran ...string) expectation {
	return expectation{pods: true, runs: ran, problems: []string{"Error JobFailed: Job web-release-", "relation users already exists"}, fields: map[string]string{
		runningImage: oldImage, "AppService web.status.phase": string(v1.PhaseDegraded), "AppService web.status.runs[0].result": string(v1.RunFailed),
		"AppService web.status.conditions[Stalled].reason": v1.ReasonJobFailed, "AppService web.status.conditions[Deployed].status": "False",
	}}
}

// asksAgain is the request to restart pods, or to run again a task that failed.
func asksAgain(at string) map[string]string {
	return map[string]string{v1.Kind: fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1.AnnotationRestartedAt, at)}
}

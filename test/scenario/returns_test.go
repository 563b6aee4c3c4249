//go:build cluster

package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
)

// Reports of the simulated nodes about pods that do not run (tools/controlplane/stages.yaml), as JSON.
const (
	unreadyPod = `conditions: [{type: Ready, status: "False", lastTransitionTime: NOW}, {type: ContainersReady, status: "False"}]`

	noImage = `{phase: Pending, conditions: [{type: Ready, status: "False"}], containerStatuses: [{name: app, image: x, imageID: "", ready: false, ` +
		`restartCount: 0, state: {waiting: {reason: ImagePullBackOff, message: "Back-off pulling image x:1: ErrImagePull: rpc error: code = NotFound desc = not found"}}}]}`
	crashes = `{phase: Pending, conditions: [{type: Ready, status: "False"}], containerStatuses: [{name: app, image: x, imageID: "", ready: false, ` +
		`restartCount: 2, state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}, ` +
		`lastState: {terminated: {exitCode: 3, reason: Error, message: no database, startedAt: NOW, finishedAt: NOW}}}]}`
	outOfMemory = `{phase: Pending, ` + unreadyPod + `, containerStatuses: [{name: app, image: x, imageID: "", ready: false, started: false, ` +
		`restartCount: 2, state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}, ` +
		`lastState: {terminated: {exitCode: 137, reason: OOMKilled, startedAt: NOW, finishedAt: NOW}}}]}`
	unready = `{phase: Running, ` + unreadyPod + `, containerStatuses: [{name: app, image: x, imageID: "", ready: false, started: true, restartCount: 0, ` +
		`state: {running: {startedAt: NOW}}}]}`
)

// following is a change of a spec after which pods follow a script: those of the application, or of Jobs.
func following(annotation, status string) string {
	change, err := json.Marshal(map[string]any{"podAnnotations": map[string]string{annotation: status}})
	if err != nil {
		panic(err)
	}
	return string(change)
}

// returning is an AppService that returns from a release that fails.
var (
	neverLess    = with(autoscaled, `autoscaling: {behavior: {scaleDown: {selectPolicy: Disabled}}}`)
	returning    = with(small, `onFailure: {action: Return}`)
	hurried      = with(returning, `progressDeadlineSeconds: 10`)
	taskReturns  = with(tasked, `onFailure: {action: Return, afterTask: true}`)
	cannotPull   = with(with(returning, `image: "nginx:0"`), following(scripted, noImage))
	cannotStart  = with(with(returning, `image: "nginx:0"`), following(scripted, crashes))
	cannotFollow = with(with(with(taskReturns, `image: "nginx:0"`), following(scripted, noImage)), following(jobScript, `{phase: Succeeded, containerStatuses: []}`))
)

// goesBack is the step to a spec whose release fails, and from which the AppService returns, with paths of fields and their values.
func goesBack(spec string, fields ...string) step {
	return step{spec: spec, ready: metav1.ConditionFalse, reason: v1.ReasonReturnedToRelease, expect: expectation{fields: fieldsOf(fields...)}}
}

// troubles are changes with which a release fails, each with a part of the message.
var troubles = map[string]struct{ change, says string }{
	"no-image": {following(scripted, noImage), "the registry does not have it"},
	"crash":    {following(scripted, crashes), "exit code 3"},
	"memory":   {with(`resources: {limits: {memory: 64Mi}}`, following(scripted, outOfMemory)), "64Mi"},
	"readiness": {with(`
progressDeadlineSeconds: 30
probes: {readiness: {periodSeconds: 2, httpGet: {path: /healthz}}}
`, following(scripted, unready)), "GET :80/healthz"},
}

// answered are releases with such a trouble, which are tried once more on request, and then corrected. Their operator keeps one record.
func answered() (list []scenario) {
	for name, trouble := range troubles {
		spec := with(with(returning, `image: "nginx:0"`), trouble.change)
		list = append(list, scenario{
			name: "return-" + name + "-again", once: true, serves: true, options: func(options *operator.Options) { options.HistoryMax = 1 },
			given: []step{{spec: returning}},
			steps: []step{
				{spec: spec, ready: metav1.ConditionFalse, reason: v1.ReasonReturnedToRelease, says: "release 2 failed, release 1 runs again", expect: expectation{
					pods: true, fields: map[string]string{"AppService web.status.phase": string(v1.PhaseDegraded)}, problems: []string{trouble.says},
					events: []string{v1.ReasonReturnedToRelease, "release 2 failed"},
				}},
				{
					edit: asksAgain("now"), ready: metav1.ConditionFalse, reason: v1.ReasonReturnedToRelease, says: "release 4 failed, release 3 runs again",
					expect: expectation{pods: true, fields: map[string]string{recordVersions: "5", recordStatuses: "deployed"}},
				},
				{spec: with(returning, `image: nginx:1.27`), expect: expectation{
					problems: []string{}, fields: map[string]string{"AppService web.status.release.revision": "6"},
				}},
			},
		})
	}
	return list
}

// notAnswered is a release that fails for a cause that others have, too: it stays, though the deadline passes.
func notAnswered(spec, reason string) step {
	return step{spec: spec, ready: metav1.ConditionFalse, reason: reason, expect: expectation{fields: map[string]string{
		"Deployment web.status.conditions[Progressing].reason": "ProgressDeadlineExceeded",
		"AppService web.status.conditions[Stalled].reason":     reason, "AppService web.status.release.revision": "2",
	}}}
}

const (
	runningScript  = "Deployment web.spec.template.metadata.annotations." + scripted
	recordVersions = "Secret sh.helm.release.v1.web.v*.metadata.labels.version"
	recordStatuses = "Secret sh.helm.release.v1.web.v*.metadata.labels.status"
	keptData       = "kept for its data, though it is not rendered: it goes with the next release of a changed spec without it"
	// data is an AppService with a generated value and a claim.
	data = `
image: nginx:1.27
config: {generated: {PASSWORD: {}}}
persistence: {size: 1Gi, mountPath: /data, storageClassName: none, retain: false}
`
)

// returnScenarios are releases that fail, and those that follow. A pod serves all the time.
var returnScenarios = slices.Concat(answered(), []scenario{
	{name: "return-no-image", serves: true, given: []step{{spec: with(returning, `size: 2`)}}, steps: []step{
		goesBack(with(cannotPull, `size: 3`), "Deployment web.spec.replicas", "3", runningScript, ""),
	}},
	{name: "return-autoscaled", serves: true, once: true, given: []step{
		{spec: with(returning, neverLess)},
		{edit: map[string]string{"Deployment": `{"spec":{"replicas":4}}`}},
	}, steps: []step{
		goesBack(with(with(cannotPull, neverLess), `size: 3`), "Deployment web.spec.replicas", "4", runningScript, ""),
	}},
	{name: "return-lack-of-nodes", once: true, serves: true, given: []step{{spec: hurried}}, steps: []step{
		notAnswered(with(hurried, `nodeSelector: {disk: fast}`), v1.ReasonUnschedulable),
	}},
	{name: "return-used-up-quota", once: true, serves: true, given: []step{{spec: hurried}, {
		create: map[string]string{"ResourceQuota/none": `{apiVersion: v1, kind: ResourceQuota, spec: {hard: {pods: 0}}}`},
	}}, steps: []step{notAnswered(with(hurried, `image: nginx:1.27`), v1.ReasonQuotaExceeded)}},
	{name: "return-never-ready", once: true, steps: []step{{
		spec: cannotPull, ready: metav1.ConditionFalse, reason: v1.ReasonImageNotFound, says: "the failed release is kept: no release that was Ready is recorded",
		expect: expectation{fields: map[string]string{runningScript: noImage, recordVersions: "1", recordStatuses: "deployed"}},
	}}},
	{name: "return-deletes-no-data", once: true, given: []step{{spec: returning}}, steps: []step{
		goesBack(with(cannotPull, with(data, `image: "nginx:0"`)), "AppService web.status.resources[*].message", keptData+", "+keptData),
		{offline: true, ready: metav1.ConditionFalse, reason: v1.ReasonReturnedToRelease, expect: expectation{same: true, requests: []string{}}},
		{spec: with(returning, data), expect: expectation{requests: []string{ // neither the Secret nor the claim
			"create secrets", "patch deployments/web", "update secrets/sh.helm.release.v1.web.v3",
		}}},
		{spec: with(returning, `image: nginx:1.27`), expect: expectation{requests: []string{ // one may return to what has them
			"create secrets", "patch deployments/web", "update secrets/sh.helm.release.v1.web.v4",
		}}},
		{spec: with(returning, `image: nginx:1.28`), expect: expectation{
			fields: map[string]string{"Secret web-generated.kind": "", "PersistentVolumeClaim web.kind": ""},
		}},
	}},
	{name: "return-to-its-data", once: true, given: []step{{spec: with(returning, data)}}, steps: []step{
		{spec: cannotPull, ready: metav1.ConditionFalse, reason: v1.ReasonReturnedToRelease, expect: expectation{requests: []string{
			"create secrets", "create secrets", "patch deployments/web", "patch deployments/web", "patch deployments/web", // and neither
			"update secrets/sh.helm.release.v1.web.v1", "update secrets/sh.helm.release.v1.web.v2", // the Secret nor the claim is deleted
		}}},
	}},
	{name: "return-to-what-it-refers-to", once: true, given: []step{{spec: with(returning, data)}, {
		spec: with(returning, `{image: "nginx:1.27", envFrom: [{secretRef: {name: web-generated}}]}`),
	}}, steps: []step{goesBack(cannotPull, "Secret web-generated.kind", "Secret", runningImage, newImage)}},
	{name: "return-with-what-it-refers-to", once: true, given: []step{{
		spec: with(with(returning, data), `{config: null, envFrom: [{secretRef: {name: web-generated, optional: true}}]}`),
	}}, steps: []step{{
		spec: with(returning, `{image: "nginx:1.27", config: {generated: {PASSWORD: {}}}}`), expect: expectation{
			order:  []string{"patch secrets/web-generated", "patch deployments/web"},
			fields: fieldsOf("PersistentVolumeClaim web.kind", "PersistentVolumeClaim", "Secret web-generated.kind", "Secret"),
		},
	}}},
	{name: "return-without-its-record", once: true, given: []step{{spec: with(returning, data)}, goesBack(cannotPull)}, steps: []step{{
		remove: []string{"Secret/sh.helm.release.v1.web.v3"}, ready: metav1.ConditionFalse, reason: v1.ReasonImageNotFound,
		says: "no release that was Ready is recorded", expect: expectation{
			fields: map[string]string{"Secret web-generated.kind": "Secret", "PersistentVolumeClaim web.kind": "PersistentVolumeClaim"},
		},
	}}},
	{name: "return-after-sleep", once: true, options: func(options *operator.Options) { options.HistoryMax = 1 }, given: []step{
		{spec: with(returning, data)}, {spec: with(returning, `size: 0`)}, {spec: with(returning, `{size: 0, image: "nginx:1.27"}`)},
	}, steps: []step{goesBack(cannotPull, "Secret web-generated.kind", "Secret", "PersistentVolumeClaim web.kind", "PersistentVolumeClaim")}},
	{name: "return-after-growth", once: true, given: []step{{spec: with(returning, growing)}}, steps: []step{
		goesBack(with(with(cannotPull, growing), `persistence: {size: 2Gi}`),
			"PersistentVolumeClaim web.spec.resources.requests.storage", "2Gi", runningImage, oldImage),
	}},
	{name: "return-to-the-newest", serves: true, given: []step{{spec: returning}, {spec: with(small, `image: nginx:1.27`)}, {spec: with(small, `image: nginx:1.28`)}}, steps: []step{
		goesBack(cannotPull, runningImage, "nginx:1.28"),
		goesBack(with(cannotPull, `size: 3`), runningImage, "nginx:1.28", "Deployment web.spec.replicas", "3", "AppService web.status.release.revision", "6"),
	}},
	{name: "return-without-its-secret", once: true, given: []step{{spec: with(small, `config: {generated: {PASSWORD: {}}}`)}}, steps: []step{{
		spec: with(cannotPull, `onFailure: null`), ready: metav1.ConditionFalse, reason: v1.ReasonImageNotFound, expect: expectation{
			fields: map[string]string{"Secret web-generated.kind": ""},
		},
	}, {
		spec: cannotPull, ready: metav1.ConditionFalse, reason: v1.ReasonImageNotFound, says: "the failed release is kept: Secret web-generated",
		expect: expectation{fields: map[string]string{runningScript: noImage, "AppService web.status.release.revision": "2"}},
	}}},
	{name: "return-crash-then-fixed", serves: true, given: []step{{spec: returning}, {spec: with(returning, `image: nginx:1.27`)}}, steps: []step{
		goesBack(cannotStart), {spec: with(returning, `image: nginx:1.28`)},
	}},
	{name: "return-after-task", task: true, serves: true, deadly: true, given: []step{{spec: taskReturns}}, steps: []step{goesBack(cannotFollow)}},
})

// untrulyReturned returns what contradicts that an AppService has returned to an earlier release: the newest record says so, and its pods are those
// of that release.
func untrulyReturned(app *v1.AppService, deployment *appsv1.Deployment, objects map[string]*unstructured.Unstructured) error {
	ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Reason != v1.ReasonReturnedToRelease {
		return nil
	}
	newest, revision := newestIn(objects)
	switch {
	case newest == nil || app.Status.Release == nil || app.Status.Release.Revision != revision:
		return fmt.Errorf("status names release %+v, and the newest record is %d", app.Status.Release, revision)
	case newest.GetLabels()[v1.LabelReturnedFrom] == "":
		return fmt.Errorf("status says that it has returned, and the newest record does not")
	case !isAbout(app, v1.ConditionStalled, metav1.ConditionTrue) || !isAbout(app, v1.ConditionDeployed, metav1.ConditionFalse):
		return fmt.Errorf("status says that it has returned, with the conditions %+v", app.Status.Conditions)
	case !strings.Contains(ready.Message, fmt.Sprintf("release %d failed", failedBefore(objects, revision))):
		return fmt.Errorf("release %d follows %d, which failed, and status says %q", revision, failedBefore(objects, revision), ready.Message)
	case len(deployment.Spec.Template.Spec.Containers) == 0 || deployment.Spec.Template.Spec.Containers[0].Image == app.Spec.Image:
		return fmt.Errorf("status says that it has returned, and the Deployment is %+v", deployment.Spec.Template.Spec.Containers)
	}
	return nil
}

// failedBefore returns the revision of the release that failed before a return. The return may have restarted pods since.
func failedBefore(objects map[string]*unstructured.Unstructured, revision int) int {
	for revision--; revision > 0; revision-- {
		if record := objects[fmt.Sprintf("Secret sh.helm.release.v1.%s.v%d", appName, revision)]; record == nil || record.GetLabels()[v1.LabelReturnedFrom] == "" {
			break
		}
	}
	return revision
}

// isAbout reports whether a condition has a status because the AppService has returned.
func isAbout(app *v1.AppService, condition string, status metav1.ConditionStatus) bool {
	found := meta.FindStatusCondition(app.Status.Conditions, condition)
	return found != nil && found.Status == status && found.Reason == v1.ReasonReturnedToRelease
}

// newestIn returns the newest release record among objects, and its revision.
func newestIn(objects map[string]*unstructured.Unstructured) (newest *unstructured.Unstructured, revision int) {
	for _, object := range objects {
		number, err := strconv.Atoi(object.GetLabels()["version"])
		if err == nil && object.GetLabels()["owner"] == "helm" && number > revision {
			newest, revision = object, number
		}
	}
	return newest, revision
}

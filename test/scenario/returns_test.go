//go:build cluster

package scenario

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Reports of the simulated nodes about pods that do not run (tools/controlplane/stages.yaml), as JSON.
const (
	noImage = `{phase: Pending, conditions: [{type: Ready, status: "False"}], containerStatuses: [{name: app, image: x, imageID: "", ready: false, ` +
		`restartCount: 0, state: {waiting: {reason: ImagePullBackOff, message: "Back-off pulling image x:1: ErrImagePull: rpc error: code = NotFound desc = not found"}}}]}`
	crashes = `{phase: Pending, conditions: [{type: Ready, status: "False"}], containerStatuses: [{name: app, image: x, imageID: "", ready: false, ` +
		`restartCount: 2, state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}, ` +
		`lastState: {terminated: {exitCode: 3, reason: Error, message: no database, startedAt: NOW, finishedAt: NOW}}}]}`
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
	returning    = with(small, `onFailure: {action: Return}`)
	taskReturns  = with(tasked, `onFailure: {action: Return, afterTask: true}`)
	cannotPull   = with(with(returning, `image: "nginx:0"`), following(scripted, noImage))
	cannotStart  = with(with(returning, `image: "nginx:0"`), following(scripted, crashes))
	cannotFollow = with(with(with(taskReturns, `image: "nginx:0"`), following(scripted, noImage)), following(jobScript, `{phase: Succeeded, containerStatuses: []}`))
)

// goesBack is the step to a spec whose release fails, and from which the AppService returns.
func goesBack(spec string) step {
	return step{spec: spec, ready: metav1.ConditionFalse, reason: v1.ReasonReturnedToRelease}
}

// returnScenarios are releases that fail, and those that follow. A pod serves all the time.
var returnScenarios = []scenario{
	{name: "return-no-image", serves: true, given: []step{{spec: returning}}, steps: []step{goesBack(cannotPull)}},
	{name: "return-crash-then-fixed", serves: true, given: []step{{spec: returning}, {spec: with(returning, `image: nginx:1.27`)}}, steps: []step{
		goesBack(cannotStart), {spec: with(returning, `image: nginx:1.28`)},
	}},
	{name: "return-after-task", task: true, serves: true, given: []step{{spec: taskReturns}}, steps: []step{goesBack(cannotFollow)}},
}

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
	case !strings.Contains(ready.Message, fmt.Sprintf("release %d failed", revision-1)):
		return fmt.Errorf("release %d follows one that failed, and status says %q", revision, ready.Message)
	case len(deployment.Spec.Template.Spec.Containers) == 0 || deployment.Spec.Template.Spec.Containers[0].Image == app.Spec.Image:
		return fmt.Errorf("status says that it has returned, and the Deployment is %+v", deployment.Spec.Template.Spec.Containers)
	}
	return nil
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

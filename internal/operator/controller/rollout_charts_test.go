package controller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/rollout"
)

const many = 24

func (w *world) expect(versions map[string]int, readies, helds int) {
	w.t.Helper()
	got := w.versions()
	for version, count := range versions {
		if got[version] != count {
			w.t.Errorf("got Deployments of the versions %v, want %v", got, versions)
			break
		}
	}
	if count := w.count(ready); count != readies {
		w.t.Errorf("%d are ready, want %d", count, readies)
	}
	if count := w.count(held); count != helds {
		w.t.Errorf("%d say that they are held back, want %d", count, helds)
	}
}

func TestAChartThatCannotBeRenderedForTwoComesToTheOthers(t *testing.T) {
	w := newWorld(t)
	w.load(rendererOf("two", `{{ if has .Release.Name (list "web-007" "web-011") }}{{ fail "no more" }}{{ end }}`))
	w.run()
	w.expect(map[string]int{"one": 2, "two": many - 2}, many, 2)
	if message := w.app(7).Status.Problems[0].Message; !strings.Contains(message, "cannot be rendered for this resource") || !strings.Contains(message, "chart tiny 0.1.0") {
		t.Errorf("got %q", message)
	}
	events := w.warnings()
	if len(events) != 2 || !strings.Contains(strings.Join(events, "\n"), "no more") {
		t.Errorf("got the events %q, want one of each that it fails for", events)
	}
	if want := (rollout.Progress{Failed: 2}); w.progress != want {
		t.Errorf("got %+v, want %+v", w.progress, want)
	}
	w.restart()
	w.run()
	w.expect(map[string]int{"one": 2, "two": many - 2}, many, 2)
	if events := w.warnings(); len(events) != 0 {
		t.Errorf("got the events %q again", events)
	}
}

func TestAChartThatCannotBeRenderedForManyIsHalted(t *testing.T) {
	w := newWorld(t)
	w.load(rendererOf("two", `{{ if lt .Release.Name "web-004" }}{{ fail "no more" }}{{ end }}`))
	w.run()
	w.expect(map[string]int{"one": many}, many, many)
	if message := w.app(9).Status.Problems[0].Message; !strings.Contains(message, "is halted: demo/web-000, demo/web-001, demo/web-002 and 1 more failed with it") {
		t.Errorf("got %q", message)
	}
	w.edit(9, func(spec *v1.AppServiceSpec) { spec.Image = "nginx:2" }) // what users ask for continues
	w.run()
	w.expect(map[string]int{"one": many - 1, "two": 1}, many, many-1)

	require.NoError(t, w.Delete(t.Context(), w.app(0)))
	w.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "demo", Name: nameOf(0)}})
	w.edit(1, func(spec *v1.AppServiceSpec) { spec.Paused = true })
	w.edit(2, func(spec *v1.AppServiceSpec) { spec.Paused = true })
	w.run()
	if w.count(held) == 1 {
		t.Error("it goes on before all that failed are well, gone or paused")
	}
	w.edit(3, func(spec *v1.AppServiceSpec) { spec.Paused = true })
	w.run()
	w.expect(map[string]int{"one": 4, "two": many - 4}, many-4, 0) // nobody collects garbage here
}

func sickWithTwo(spec appsv1.DeploymentSpec) bool {
	return spec.Template.Spec.Containers[0].Env[0].Value == "two"
}

func TestAChartWhosePodsNeverBecomeReadyIsHalted(t *testing.T) {
	for name, deaths := range map[string][]int{ // writes before each
		"the operator goes on": nil, "the operator dies meanwhile": {1, 2, 3, 4, 5, 6, 7, 8, 13, 21, 34},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.sick = sickWithTwo
			w.load(rendererOf("two", ""))
			for _, writes := range deaths {
				w.writes = writes
				w.pass()
				w.restart()
			}
			w.pass()
			touched := w.versions()["two"]
			if touched < 4 || touched > 10+3 {
				t.Fatalf("%d were touched, want at most 10 + 3", touched)
			}
			w.expect(map[string]int{"one": many - touched, "two": touched}, many-touched, many-touched)
			if w.progress.Held != many-touched || w.progress.Failed != touched {
				t.Errorf("got %+v of %d that were touched", w.progress, touched)
			}
			w.restart()
			w.pass()
			w.expect(map[string]int{"one": many - touched, "two": touched}, many-touched, many-touched)

			w.load(rendererOf("three", ""))
			w.run()
			w.expect(map[string]int{"three": many}, many, 0)
			if w.progress != (rollout.Progress{}) {
				t.Errorf("got %+v", w.progress)
			}
		})
	}
}

func TestAHaltedChartGoesOnOnRequest(t *testing.T) {
	w := newWorld(t)
	w.sick = sickWithTwo
	w.load(rendererOf("two", ""))
	w.pass()
	w.operator.Rollouts.Allow(w.operator.Chart().Digest[:12])
	w.pass()
	w.expect(map[string]int{"two": many}, 0, 0)
}

// Resources that wait for a rollout without progress continue at the deadline of the platform, whatever its own deadline is.
func TestRolloutsWithoutProgressGiveTheirPlacesBack(t *testing.T) {
	w := newWorld(t)
	w.charts.Set(rendererOf("two", ""))
	stuck := map[string]bool{"web-000": true, "web-001": true, "web-002": true}
	w.stuck = func(name string) bool { return stuck[name] }
	w.operator.Rollouts.Limit = len(stuck)
	w.all()
	w.run()
	w.expect(map[string]int{"one": many - 3, "two": 3}, many-3, many-3)
	w.pass()
	w.expect(map[string]int{"two": many}, many-3, 0)
}

// Resources without available replicas take a place in the line, and keep nobody waiting.
func TestResourcesWithoutAvailableReplicasTakeAPlaceForAMoment(t *testing.T) {
	w := newWorld(t)
	w.none = func(spec appsv1.DeploymentSpec) bool { return spec.Template.Spec.Containers[0].Image == "broken" }
	w.operator.Rollouts.Limit = 1
	for i := range 12 {
		w.edit(i, func(spec *v1.AppServiceSpec) { spec.Image = "broken" })
	}
	w.run()
	w.expect(map[string]int{"one": many}, many-12, 0)
	w.load(rendererOf("two", ""))
	w.run()
	w.expect(map[string]int{"two": many}, many-12, 0)
}

// A chart that only takes something away, or changes an order, waits for places as any other.
func TestAChartThatTakesSomethingAwayWaitsForPlaces(t *testing.T) {
	for name, change := range map[string][2]string{
		"a variable":             {`, {name: MORE, value: more}`, ``},
		"the order of variables": {`{name: VERSION, value: one}, {name: MORE, value: more}`, `{name: MORE, value: more}, {name: VERSION, value: one}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			with := func(text string) *render.Renderer {
				renderer := rendererOf("one", "")
				file := renderer.Chart.Templates[0]
				file.Data = []byte(text)
				return renderer
			}
			text := strings.ReplaceAll(deploymentTemplate, "value: VERSION}", "value: one}, {name: MORE, value: more}")
			w.load(with(text))
			w.run()
			w.expect(nil, many, 0)
			w.sick = func(spec appsv1.DeploymentSpec) bool {
				env := spec.Template.Spec.Containers[0].Env
				return len(env) == 1 || env[0].Name == "MORE"
			}
			w.operator.Rollouts.Limit = 1
			w.load(with(strings.Replace(text, change[0], change[1], 1)))
			w.run()
			w.expect(nil, many-1, many-1)
		})
	}
}

// Defaults that are taken away take a line out of pods, and wait for places, too.
func TestDefaultsThatAreTakenAwayWaitForPlaces(t *testing.T) {
	w := newWorld(t)
	renderer := rendererOf("one", "")
	file := renderer.Chart.Templates[0]
	file.Data = []byte(strings.Replace(string(file.Data), "spec: {containers:",
		"spec: { {{- with .Values.priorityClassName }}priorityClassName: {{ . }}, {{ end }}containers:", 1))
	w.load(renderer)
	w.says("{priorityClassName: high}")
	w.run()
	w.expect(nil, many, 0)
	w.sick = func(spec appsv1.DeploymentSpec) bool { return spec.Template.Spec.PriorityClassName == "" }
	w.operator.Rollouts.Limit = 1
	w.says("")
	w.run()
	w.expect(nil, many-1, many-1)
}

func TestAChartThatChangesNothingTouchesNobody(t *testing.T) {
	w := newWorld(t)
	before := w.app(0).ResourceVersion
	w.load(rendererOf("one", "# another\n"))
	w.run()
	w.expect(map[string]int{"one": many}, many, 0)
	if after := w.app(0).ResourceVersion; after != before {
		t.Errorf("got version %s, want %s: a status was written", after, before)
	}
}

var shared = reference.Object{Kind: reference.Secret, Name: "shared"}

// rotate puts other content into the Secret that all pods take; "" deletes it.
func (w *world) rotate(content string) {
	w.facts.known = postrender.Facts{States: map[reference.Object]reference.State{
		shared: {Found: content != "", Data: map[string]string{"key": content}, Version: "uid/" + content},
	}}
	w.all()
	w.run()
}

// templates returns the generations of the Deployments, and how many have an annotation of pods, by its value.
func (w *world) templates(annotation string) (generations map[string]int64, values map[string]int) {
	w.t.Helper()
	list := &appsv1.DeploymentList{}
	require.NoError(w.t, w.List(w.t.Context(), list))
	generations, values = map[string]int64{}, map[string]int{}
	for _, deployment := range list.Items {
		generations[deployment.Name] = deployment.Generation
		values[deployment.Spec.Template.Annotations[annotation]]++
	}
	return generations, values
}

// A chart that is held back does not hold back what users do, and what users do spreads no chart that is held back.
func TestUsersRestartPodsOfTheRecordedReleaseWhileAChartIsHeldBack(t *testing.T) {
	w := newWorld(t)
	w.rotate("first")
	w.load(rendererOf("two", ""))
	w.sick = sickWithTwo
	w.pass()
	touched := w.versions()["two"]
	held := map[string]int{"one": many - touched, "two": touched}
	w.expect(held, many-touched, many-touched)
	before, old := w.templates(postrender.AnnotationReferences)

	w.rotate("second")
	w.expect(held, many-touched, many-touched)
	after, fresh := w.templates(postrender.AnnotationReferences)
	for name, generation := range before {
		if after[name] != generation+1 {
			t.Errorf("%s is at generation %d, want %d: its pods restart once", name, after[name], generation+1)
		}
	}
	if len(fresh) != 1 || len(old) != 1 {
		t.Errorf("pods have the content %v, before %v", fresh, old)
	}
	for range 2 {
		w.all()
		w.run()
		w.restart()
	}
	w.run()
	if again, _ := w.templates(""); !equal(again, after) {
		t.Errorf("got the generations %v, then %v: pods restart again", after, again)
	}

	w.rotate("")
	w.expect(held, 0, 0)
	for _, i := range []int{many - 1, many - 2} {
		if got := meta.FindStatusCondition(w.app(i).Status.Conditions, v1.ConditionReady); got.Reason != v1.ReasonDependencyMissing {
			t.Errorf("got %+v, want that the Secret is missing", got)
		}
	}
	w.rotate("third")
	w.rotate("third")
	w.expect(held, many-touched, many-touched)

	untouched := ""
	for i := range many {
		app := w.app(i)
		if ready(app) {
			untouched = app.Name
			app.Annotations = map[string]string{v1.AnnotationRestartedAt: "now"}
			require.NoError(t, w.Update(t.Context(), app))
			w.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
			break
		}
	}
	w.run()
	if _, restarted := w.templates(v1.AnnotationRestartedAt); restarted["now"] != 1 {
		t.Errorf("%v were restarted, want %s", restarted, untouched)
	}
	w.expect(held, many-touched, many-touched)

	before, _ = w.templates("")
	w.load(rendererOf("three", ""))
	w.run()
	w.expect(map[string]int{"three": many}, many, 0)
	after, _ = w.templates("")
	for name, generation := range before {
		if after[name] != generation+1 {
			t.Errorf("%s is at generation %d, want %d: the chart restarts pods once", name, after[name], generation+1)
		}
	}
}

// A rollout that runs its stage before is still one, with the time at which it began, after the pods of the recorded release were restarted.
func TestARestartKeepsThePlaceOfTheStageBefore(t *testing.T) {
	w := newWorldOf(t, 1)
	w.rotate("first")
	const first = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}-first", annotations: {app.example.com/stage: before}}
spec: {template: {spec: {containers: [{name: first, image: x}]}}}
---`
	w.stuck = func(name string) bool { return strings.HasSuffix(name, "-first") }
	w.load(rendererOf("two", first))
	w.run()
	newest := func() *livestate.Record {
		app := kube.Object(appService)
		require.NoError(t, w.Get(t.Context(), client.ObjectKeyFromObject(w.app(0)), app))
		there, err := w.operator.Observer.Snapshot(t.Context(), app, nil)
		require.NoError(t, err)
		return there.Record
	}
	begun := newest()
	require.NotEmpty(t, begun.Rollout)
	w.rotate("second")
	w.pass()
	restarted := newest()
	assert.Greater(t, restarted.Revision, begun.Revision)
	assert.Equal(t, begun.ChartDigest, restarted.ChartDigest)
	assert.Equal(t, begun.Rollout, restarted.Rollout)
}

func equal(a, b map[string]int64) bool {
	for name, value := range a {
		if b[name] != value {
			return false
		}
	}
	return len(a) == len(b)
}

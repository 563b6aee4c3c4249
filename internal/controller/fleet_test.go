package controller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/fleet"
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

func TestAChartThatFailsForTwoTouchesNobody(t *testing.T) {
	w := newWorld(t)
	w.load(rendererOf("two", `{{ if has .Release.Name (list "web-007" "web-011") }}{{ fail "no more" }}{{ end }}`))
	w.run()
	w.expect(map[string]int{"one": many}, many, many)
	for _, i := range []int{0, 7} {
		if message := w.app(i).Status.Problems[0].Message; !strings.Contains(message, "cannot be rendered for") || !strings.Contains(message, "chart tiny 0.1.0") {
			t.Errorf("got %q", message)
		}
	}
	events := w.events()
	if len(events) != 2 || !strings.Contains(strings.Join(events, "\n"), "no more") {
		t.Errorf("got the events %q, want one of each that it fails for", events)
	}
	if want := (fleet.Progress{Held: many - 2, Unfit: 2}); w.progress != want {
		t.Errorf("got %+v, want %+v", w.progress, want)
	}
	w.restart()
	w.run()
	w.expect(map[string]int{"one": many}, many, many)

	w.edit(3, func(spec *v1.AppServiceSpec) { spec.Image = "nginx:2" }) // what users ask for goes on
	w.run()
	w.expect(map[string]int{"one": many - 1, "two": 1}, many, many-1)

	require.NoError(t, w.Delete(t.Context(), w.app(7)))
	w.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "demo", Name: nameOf(7)}})
	w.edit(11, func(spec *v1.AppServiceSpec) { spec.Paused = true })
	w.run()
	w.expect(map[string]int{"one": 2, "two": many - 2}, many-2, 0) // nobody collects garbage here
}

func sickWith(version string) func(appsv1.DeploymentSpec) bool {
	return func(spec appsv1.DeploymentSpec) bool { return spec.Template.Spec.Containers[0].Env[0].Value == version }
}

func TestAChartWhosePodsNeverBecomeReadyIsHalted(t *testing.T) {
	cases := map[string]struct {
		atATime int
		deaths  []int // writes before each
		touched int
	}{
		"all fail at once":            {atATime: forever, touched: 10},
		"one fails after the other":   {atATime: 1, touched: 10 + 3},
		"the operator dies meanwhile": {atATime: 1, deaths: []int{1, 2, 3, 4, 5, 6, 7, 8, 13, 21, 34}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.sick, w.atATime = sickWith("two"), test.atATime
			w.load(rendererOf("two", ""))
			for _, writes := range test.deaths {
				w.writes = writes
				w.run()
				w.restart()
			}
			w.run()
			touched := w.versions()["two"]
			if test.touched != 0 && touched != test.touched {
				t.Errorf("%d were touched, want %d", touched, test.touched)
			}
			if touched < 4 || touched > 10+3 {
				t.Fatalf("%d were touched, want at most 10 + 3", touched)
			}
			w.expect(map[string]int{"one": many - touched, "two": touched}, many-touched, many-touched)
			if w.progress.Held != many-touched || w.progress.Failed != touched {
				t.Errorf("got %+v of %d that were touched", w.progress, touched)
			}
			t.Logf("%d were touched", touched)
			w.restart()
			w.run()
			w.expect(map[string]int{"one": many - touched, "two": touched}, many-touched, many-touched)

			w.load(rendererOf("three", ""))
			w.run()
			w.expect(map[string]int{"three": many}, many, 0)
			if w.progress != (fleet.Progress{}) {
				t.Errorf("got %+v", w.progress)
			}
		})
	}
}

func TestAHaltedChartGoesOnOnRequestOrWhenAllAreReady(t *testing.T) {
	w := newWorld(t)
	w.sick = sickWith("two")
	w.load(rendererOf("two", ""))
	w.run()
	w.operator.Gates.Chart.Ask(w.operator.Chart().Digest[:12])
	w.run()
	w.expect(map[string]int{"two": many}, 0, 0)
}

func TestResourcesThatWereNotReadyBeforeDoNotCount(t *testing.T) {
	w := newWorld(t)
	w.sick = func(spec appsv1.DeploymentSpec) bool { return spec.Template.Spec.Containers[0].Image == "broken" }
	for i := range 6 {
		w.edit(i, func(spec *v1.AppServiceSpec) { spec.Image = "broken" })
	}
	w.run()
	w.expect(map[string]int{"one": many}, many-6, 0)
	w.load(rendererOf("two", ""))
	w.run()
	w.expect(map[string]int{"two": many}, many-6, 0)
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

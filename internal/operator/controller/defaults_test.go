package controller

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/example/appservice-operator/api/v1"
)

// followerWorld has a chart that has the default of a field in its pods, and cannot be rendered for one resource with some.
func followerWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.load(rendererOf(`{{ .Values.priorityClassName | default "one" }}`,
		`{{ if and (eq (.Values.priorityClassName | default "") "unfit") (has .Release.Name (list "web-007" "web-011")) }}{{ fail "no more" }}{{ end }}`))
	w.run()
	w.expect(map[string]int{"one": many}, many, 0)
	w.events()
	return w
}

func TestDefaultsLieBeneathTheSpec(t *testing.T) {
	w := followerWorld(t)
	w.edit(3, func(spec *v1.AppServiceSpec) { spec.PriorityClassName = "own" })
	w.run()
	w.says("priorityClassName: two")
	w.run()
	w.expect(map[string]int{"two": many - 1, "own": 1}, many, 0)
	want := v1.DefaultsStatus{Source: "ConfigMap appservice-defaults", Fields: []string{"priorityClassName"}}
	if got := w.app(0).Status.Defaults; len(got) != 1 || got[0].Source != want.Source || !slices.Equal(got[0].Fields, want.Fields) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := w.app(3).Status.Defaults; got != nil {
		t.Errorf("got %+v where the spec says everything", got)
	}
	w.says("")
	w.run()
	w.expect(map[string]int{"one": many - 1, "own": 1}, many, 0)
	if got := w.app(0).Status.Defaults; got != nil {
		t.Errorf("got %+v without any", got)
	}
}

func TestDefaultsWhosePodsNeverBecomeReadyAreHalted(t *testing.T) {
	for name, deaths := range map[string][]int{"the operator goes on": nil, "the operator dies meanwhile": {1, 2, 3, 4, 5, 6, 7, 8, 13, 21, 34}} {
		t.Run(name, func(t *testing.T) {
			w := followerWorld(t)
			w.sick = sickWithTwo
			w.says("priorityClassName: two")
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
			w.restart()
			w.pass()
			w.expect(map[string]int{"one": many - touched, "two": touched}, many-touched, many-touched)
			w.says("")
			w.run()
			w.expect(map[string]int{"one": many}, many, 0)
		})
	}
}

func TestDefaultsThatFailForTwoComeToTheOthers(t *testing.T) {
	w := followerWorld(t)
	w.says("priorityClassName: unfit")
	w.run()
	w.expect(map[string]int{"one": 2, "unfit": many - 2}, many, 2)
	message := w.app(7).Status.Problems[0].Message
	for _, part := range []string{"cannot be rendered for", "ConfigMap appservice-defaults", "no more"} {
		if !strings.Contains(message, part) {
			t.Errorf("got %q, want %q in it", message, part)
		}
	}
	if events := w.warnings(); len(events) != 2 || !strings.Contains(events[0], "Warning DefaultsInvalid") {
		t.Errorf("got the events %q, want one of each that they fail for", events)
	}
	w.edit(7, func(spec *v1.AppServiceSpec) { spec.PriorityClassName = "own" })
	w.run()
	w.expect(map[string]int{"one": 1, "own": 1, "unfit": many - 2}, many, 1)
}

func TestDefaultsThatCannotBeReadChangeNothing(t *testing.T) {
	w := followerWorld(t)
	w.says("priorityClassName: two")
	w.run()
	w.says("image: nginx")
	w.run()
	held := map[string]int{"two": many}
	w.expect(held, many, many)
	if message := w.app(5).Status.Problems[0].Message; !strings.Contains(message, "image: a namespace may not set it") {
		t.Errorf("got %q", message)
	}
	if got := w.app(5).Status.Defaults; len(got) != 1 {
		t.Errorf("got %+v, want the defaults of what runs", got)
	}
	w.restart()
	w.run()
	w.expect(held, many, many)

	w.edit(5, func(spec *v1.AppServiceSpec) { spec.Image = "nginx:2" })
	w.run()
	w.expect(held, many-1, many-1)
	if got := meta.FindStatusCondition(w.app(5).Status.Conditions, v1.ConditionReady); got.Reason != v1.ReasonDefaultsInvalid {
		t.Errorf("got %+v, want that the new spec is refused", got)
	}
	w.load(rendererOf("three", ""))
	w.run()
	w.expect(held, many-1, many-1)

	w.says("priorityClassName: two")
	w.run()
	w.expect(map[string]int{"three": many}, many, 0)
}

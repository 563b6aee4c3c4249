package render

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/values"
)

// family is a chart with two subcharts, one of which has one of its own: conditions switch them on and off, an alias
// renames one, values go down and come up.
func family() *chart.Chart {
	member := func(name, more string, vals map[string]any) *chart.Chart {
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-" + name + "}\ndata: {" +
			"path: {{ .Template.BasePath | quote }}, color: {{ .Values.color | quote }}" + more + "}\n"
		return &chart.Chart{
			Metadata:  &chart.Metadata{APIVersion: "v2", Name: name, Version: "1.0.0"},
			Templates: []*chart.File{{Name: "templates/map.yaml", Data: []byte(text)}},
			Values:    vals,
		}
	}
	parent := member("parent", ", shade: {{ .Values.shade | quote }}", map[string]any{"color": "white", "left": map[string]any{"color": "red"}})
	left := member("left", "", map[string]any{"color": "grey", "exports": map[string]any{"shade": map[string]any{"shade": "dark"}}})
	right := member("right", "", map[string]any{"color": "blue"})
	leaf := member("leaf", "", map[string]any{"color": "green"})
	parent.Metadata.Dependencies = []*chart.Dependency{
		{Name: "left", Version: "1.0.0", Condition: "left.enabled", ImportValues: []any{"shade"}},
		{Name: "right", Version: "1.0.0", Alias: "second", Condition: "second.enabled"},
	}
	left.Metadata.Dependencies = []*chart.Dependency{{Name: "leaf", Version: "1.0.0", Condition: "leaf.enabled"}}
	left.SetDependencies(leaf)
	parent.SetDependencies(left, right)
	return parent
}

func familyRenderer(c *chart.Chart) *Renderer {
	return &Renderer{Chart: c, Translator: values.For(widget, c, nil), Hooks: postrender.Default()}
}

var familyCases = map[string]struct {
	spec string
	want map[string]string // color by name of the member
}{
	"all members":            {`{}`, map[string]string{"web-parent": "white", "web-left": "red", "web-leaf": "green", "web-right": "blue"}},
	"without the left":       {`{left: {enabled: false}}`, map[string]string{"web-parent": "white", "web-right": "blue"}},
	"without the right":      {`{second: {enabled: false}}`, map[string]string{"web-parent": "white", "web-left": "red", "web-leaf": "green"}},
	"without the leaf":       {`{left: {leaf: {enabled: false}}}`, map[string]string{"web-parent": "white", "web-left": "red", "web-right": "blue"}},
	"with values of its own": {`{color: a, left: {color: b, leaf: {color: c}}, second: {color: d}}`, map[string]string{"web-parent": "a", "web-left": "b", "web-leaf": "c", "web-right": "d"}},
}

func colors(result *Result) map[string]string {
	out := map[string]string{}
	for _, object := range result.Objects {
		out[object.GetName()], _, _ = unstructured.NestedString(object.Object, "data", "color")
	}
	return out
}

// Each case renders all the others before: what one leaves behind would show in the next.
func TestSubchartsRenderTheSameEachTime(t *testing.T) {
	renderer := familyRenderer(family())
	for name, tc := range familyCases {
		t.Run(name, func(t *testing.T) {
			for _, other := range familyCases {
				rendered(t, renderer, resource(t, widget, other.spec))
			}
			result := rendered(t, renderer, resource(t, widget, tc.spec))
			if got := colors(result); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
			fresh := rendered(t, familyRenderer(family()), resource(t, widget, tc.spec))
			if !reflect.DeepEqual(result, fresh) {
				t.Errorf("it differs from what a fresh chart renders:\n%s", firstDifference(printed(t, result), printed(t, fresh)))
			}
		})
	}
}

func TestSubchartsGiveValuesToTheirParent(t *testing.T) {
	result := rendered(t, familyRenderer(family()), resource(t, widget, `{}`))
	if got, _, _ := unstructured.NestedString(find(t, result, "ConfigMap", "web-parent").Object, "data", "shade"); got != "dark" {
		t.Errorf("the shade is %q, want that of the subchart", got)
	}
	want := []string{"parent/charts/left/charts/leaf/templates/map.yaml", "parent/charts/left/templates/map.yaml",
		"parent/charts/second/templates/map.yaml", "parent/templates/map.yaml"}
	if got := slices.Sorted(slices.Values(result.Sources)); !slices.Equal(got, want) {
		t.Errorf("got sources %v, want %v", got, want)
	}
}

func TestRenderingLeavesAChartWithSubchartsAlone(t *testing.T) {
	c := family()
	renderer := familyRenderer(c)
	for name, tc := range familyCases {
		rendered(t, renderer, resource(t, widget, tc.spec))
		unchanged(t, name, c, family(), nil)
	}
}

// unchanged compares a chart with a fresh one, part by part, and its tree with itself.
func unchanged(t *testing.T, after string, got, want, parent *chart.Chart) {
	t.Helper()
	if got.Parent() != parent {
		t.Errorf("%s: chart %s has another parent", after, got.Name())
	}
	for part, pair := range map[string][2]any{
		"metadata":  {got.Metadata, want.Metadata},
		"values":    {got.Values, want.Values},
		"templates": {got.Templates, want.Templates},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: chart %s: %s changed:\n got %s\nwant %s", after, want.Name(), part, asJSON(t, pair[0]), asJSON(t, pair[1]))
		}
	}
	if len(got.Dependencies()) != len(want.Dependencies()) {
		t.Errorf("%s: chart %s has %d subcharts, had %d", after, want.Name(), len(got.Dependencies()), len(want.Dependencies()))
		return
	}
	for i, dependency := range want.Dependencies() {
		unchanged(t, after, got.Dependencies()[i], dependency, got)
	}
}

// A chart may name a subchart that is not there, as long as nobody needs it: Helm drops the name from the chart.
func TestAMissingSubchartLeavesTheChartAlone(t *testing.T) {
	c := family()
	c.SetDependencies()
	renderer := familyRenderer(c)
	before := len(c.Metadata.Dependencies)
	rendered(t, renderer, resource(t, widget, `{left: {enabled: false}}`))
	if got := len(c.Metadata.Dependencies); got != before {
		t.Errorf("the shared chart names %d dependencies, named %d", got, before)
	}
}

func TestConcurrentRendersOfOneChart(t *testing.T) {
	cases := map[string]struct {
		renderer func() *Renderer
		resource func(i int) *unstructured.Unstructured
	}{
		"of the shipped chart": {
			func() *Renderer { return shipped(t) },
			func(i int) *unstructured.Unstructured {
				object := everything(t)
				object.SetName(fmt.Sprintf("web-%d", i))
				object.Object["spec"].(map[string]any)["size"] = int64(i)
				return object
			},
		},
		"of a chart with subcharts": {
			func() *Renderer { return familyRenderer(family()) },
			func(i int) *unstructured.Unstructured {
				return resource(t, widget, fmt.Sprintf("{color: c%d, left: {enabled: %t}, second: {enabled: %t}}", i, i%2 == 0, i%3 == 0))
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			const workers, rounds = 8, 5
			var want [workers]*Result
			var resources [workers]*unstructured.Unstructured
			for i := range workers {
				resources[i] = tc.resource(i)
				want[i] = rendered(t, tc.renderer(), resources[i])
			}
			shared := tc.renderer()
			var group sync.WaitGroup
			for i := range workers {
				group.Go(func() {
					for range rounds {
						got, err := shared.Render(t.Context(), resources[i], everyKind)
						if err != nil || !reflect.DeepEqual(got, want[i]) {
							t.Errorf("resource %d: it differs from what is rendered alone (%v)", i, err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
}

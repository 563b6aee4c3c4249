package render

import (
	"errors"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// helpers is a partial that fails, and one that says what is wrong with the spec.
const helpers = `{{ define "port" }}
{{ .Values.port | int | add1 }}{{ index .Values.ports 5 }}{{ end }}
{{ define "color" }}{{ required "color is required: set spec.color" .Values.color }}{{ end }}
{{ define "outer" }}

{{ include "port" . }}{{ end }}`

// schemaOf refuses much.
const schemaOf = `{
	"required": ["image"], "additionalProperties": false,
	"properties": {
		"image": {"type": "string", "pattern": "^[a-z]+$"},
		"labels": {"additionalProperties": {"type": "string"}},
		"mode": {"enum": ["fast", "slow"]},
		"either": {"anyOf": [{"type": "string"}, {"required": ["name"], "type": "object"}]},
		"part": {"properties": {"size": {"type": "integer"}}, "required": ["name"]},
		"ports": {"type": "array", "items": {"properties": {"port": {"type": "integer", "minimum": 1, "maximum": 65535}}}}
	}}`

// parent has a subchart with a template, a partial and a schema of its own.
func parent(template string) *chart.Chart {
	sub := &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "sub", Version: "3.0.0"},
		Schema:   []byte(`{"properties": {"size": {"type": "integer"}, "global": {"properties": {"zone": {"type": "string"}}}}}`),
		Templates: []*chart.File{
			{Name: "templates/_helpers.tpl", Data: []byte(helpers)},
			{Name: "templates/a.yaml", Data: []byte(template)},
		},
	}
	c := &chart.Chart{Metadata: &chart.Metadata{
		APIVersion: "v2", Name: "parent", Version: "2.0.0", Dependencies: []*chart.Dependency{{Name: "sub", Version: "3.0.0"}},
	}}
	c.SetDependencies(sub)
	return c
}

func TestAMistakeInTheChartSaysSo(t *testing.T) {
	plain := func(template string) *chart.Chart {
		return of(map[string]string{"_helpers.tpl": helpers, "service.yaml": template}).Chart
	}
	within := func(schema string, values map[string]any) *chart.Chart {
		c := plain(service)
		c.Schema, c.Values = []byte(schema), values
		return c
	}
	const of1, spared = "bug in chart widget 1.0.0, templates/service.yaml", " (not in your spec): "
	cases := map[string]struct {
		chart *chart.Chart
		want  string
	}{
		"a value of a value that is not there": {plain("\n{{ .Values.a.b.c }}"), of1 + " line 2" + spared + "<.Values.a.b.c>: nil pointer evaluating interface {}.b: its parent is not set: give that a default in values.yaml, or declare it in fields.yaml"},
		"a partial that fails": {plain("\n\n{{ include \"port\" . }}"),
			of1 + " line 3" + spared + "in templates/_helpers.tpl line 2: <index .Values.ports 5>: error calling index: index of untyped nil"},
		"a partial of a partial": {plain("{{ include \"outer\" . }}"),
			of1 + " line 1" + spared + "in templates/_helpers.tpl line 2: <index .Values.ports 5>: error calling index: index of untyped nil"},
		"a template in a value": {plain(`{{ tpl "{{ nothing \"hunter2\" }}" . }}`),
			of1 + " line 1" + spared + `<tpl "{{ nothing \"hunter2\" }}" .>: error calling tpl: template: gotpl:1: function "nothing" not defined`},
		"no YAML": {plain("a: b: c"),
			of1 + " line 1" + spared + "the rendered text is not YAML: mapping values are not allowed in this context"},
		"no kind":             {plain("metadata: {name: web}"), of1 + " line 1" + spared + "does not render an object: apiVersion and kind are required"},
		"an unknown field":    {plain(service + "spec: {tpye: ClusterIP}"), of1 + " line 5" + spared + `Service "web" is not valid: spec.tpye: there is no such field: did you mean type?`},
		"a wrong type":        {plain(service + "spec: {ports: web}"), of1 + " line 5" + spared + `Service "web" is not valid: spec.ports: must be a list, not a text`},
		"another namespace":   {plain(service + "  namespace: other"), of1 + spared + `Service "web" is rendered into namespace "other": the chart may only render into the namespace of the resource, leave metadata.namespace out`},
		"labels that are not": {plain(service + "  labels: {a: {b: c}}"), of1 + " line 5" + spared + `Service "web" is not valid: metadata.labels.a: must be a string, not a map`},
		"a subchart's template": {parent("\n{{ include \"port\" . }}"),
			"bug in chart parent 2.0.0, charts/sub/templates/a.yaml line 2 (not in your spec): in charts/sub/templates/_helpers.tpl line 2: <index .Values.ports 5>: error calling index: index of untyped nil"},
		"values of its own that do not fit": {within(schemaOf, map[string]any{"image": "web", "ports": []any{map[string]any{"port": "x"}}}),
			"bug in chart widget 1.0.0, values.yaml (not in your spec): does not fit values.schema.json: ports[0].port: got string, want integer"},
		"a section of its own that lacks a value": {within(schemaOf, map[string]any{"image": "web", "part": map[string]any{}}),
			"bug in chart widget 1.0.0, values.yaml (not in your spec): does not fit values.schema.json: part.name: required"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := familyRenderer(test.chart).Render(t.Context(), resource(t, widget, "{}"), everyKind)
			var fault *ChartError
			if !errors.As(err, &fault) || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestAMistakeInTheSpecNamesTheFieldOrIsTheChartsWords(t *testing.T) {
	schema := of(map[string]string{"a.yaml": service}).Chart
	schema.Schema = []byte(schemaOf)
	remote := of(map[string]string{"a.yaml": service}).Chart
	remote.Schema = []byte(`{"properties": {"extra": {"$ref": "urn:example:nothing"}, "a/b": {"items": {"type": "string"}}}}`)
	says := func(template string) *chart.Chart {
		return of(map[string]string{"_helpers.tpl": helpers, "a.yaml": template}).Chart
	}
	cases := map[string]struct {
		chart      *chart.Chart
		spec, want string
	}{
		"no image":                  {schema, `{}`, "spec.image: required"},
		"an unknown field":          {schema, `{image: web, sise: 1}`, "spec.sise: there is no such field"},
		"a wrong type in a list":    {schema, `{image: web, ports: [{port: 80}, {port: hunter2}]}`, "spec.ports[1].port: got string, want integer"},
		"a number that is too low":  {schema, `{image: web, ports: [{port: 0}]}`, "spec.ports[0].port: must be at least 1"},
		"a number that is too high": {schema, `{image: web, ports: [{port: 65536}]}`, "spec.ports[0].port: must be at most 65535"},
		"a key that is not a name":  {schema, `{image: web, labels: {example.com/a: 5}}`, "spec.labels[example.com/a]: got number, want string"},
		"a pattern":                 {schema, `{image: hunter2}`, "spec.image: does not match the pattern ^[a-z]+$"},
		"a choice":                  {schema, `{image: web, mode: hunter2}`, "spec.mode: value must be one of 'fast', 'slow'"},
		"alternatives":              {schema, `{image: web, either: {size: 1}}`, "spec.either: got object, want string, or name: required"},
		"several fields":            {schema, `{mode: x, ports: [{port: 0}]}`, "spec.image: required; spec.mode: value must be one of 'fast', 'slow'; spec.ports[0].port: must be at least 1"},
		"a section without a value": {schema, `{image: web, part: {}}`, "spec.part.name: required"},
		"a schema only Helm reads":  {remote, `{a/b: [x, 5]}`, "spec[a/b][1]: got number, want string"},
		"a subchart's value":        {parent(service), `{sub: {size: a}}`, "spec.sub.size: got string, want integer"},
		"values that all share":     {parent(service), `{global: {zone: 5}}`, "spec.global.zone: got number, want string"},
		"a subchart without values": {parent(service), `{sub: none}`, "spec.sub: must be a map: the values of a subchart"},
		"what a template says":      {says("\n{{ fail \"take\\n another\" }}"), `{}`, "take another (chart widget 1.0.0, templates/a.yaml line 2)"},
		"what a partial requires":   {says("\n\n{{ include \"color\" . }}"), `{}`, "color is required: set spec.color (chart widget 1.0.0, templates/a.yaml line 3)"},
		"what a subchart requires":  {parent("{{ include \"color\" . }}"), `{}`, "color is required: set spec.color (chart parent 2.0.0, charts/sub/templates/a.yaml line 1)"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := familyRenderer(test.chart).Render(t.Context(), resource(t, widget, test.spec), everyKind)
			var fault *SpecError
			if !errors.As(err, &fault) || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestASchemaThatIsNoneIsAMistakeInTheChart(t *testing.T) {
	c := of(map[string]string{"a.yaml": service}).Chart
	c.Schema = []byte(`{"properties": {"size": {"type": "nothing"}}}`)
	_, err := familyRenderer(c).Render(t.Context(), resource(t, widget, `{size: a}`), everyKind)
	var fault *ChartError
	if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), "bug in chart widget 1.0.0, values.schema.json (not in your spec): ") {
		t.Errorf("got %v", err)
	}
}

// The shipped chart refuses specs by its schema and in its own words; a template that is added to it is to blame itself.
func TestFaultsOfTheShippedChart(t *testing.T) {
	broken := shipped(t)
	broken.Chart.Templates = append(broken.Chart.Templates, &chart.File{
		Name: "templates/extra.yaml", Data: []byte("\n{{ include \"appservice.labels\" 5 }}"),
	})
	annotated := shipped(t)
	annotated.Chart.Metadata.Annotations = map[string]string{appchart.AnnotationPodSecurity: "loose"}
	version := " in chart appservice " + broken.Chart.Metadata.Version + ", "
	cases := map[string]struct {
		renderer *Renderer
		spec     string
		want     string // how the error begins
	}{
		"a port beyond 65535":     {shipped(t), `{image: nginx, ports: [{port: 80, name: a}, {port: 65536, name: b}]}`, "spec.ports[1].port: must be at most 65535"},
		"no image":                {shipped(t), `{}`, "image is required: set spec.image (chart appservice "},
		"a template that is new":  {broken, `{image: nginx}`, "bug" + version + "templates/extra.yaml line 2 (not in your spec): in templates/_helpers.tpl line "},
		"a level that is unknown": {annotated, `{image: nginx}`, "bug" + version + "Chart.yaml (not in your spec): "},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := test.renderer.Render(t.Context(), appService(t, test.spec), everyKind)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

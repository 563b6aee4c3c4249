package usedvalues_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/internal/plugin/lint/usedvalues"
)

var appService = v1.GroupVersion.WithKind(v1.Kind)

func TestCompare(t *testing.T) {
	const declared = `
fields:
  topology:
    type: object
    description: How pods are spread.
    properties:
      zoneCount: {type: integer, description: Over how many zones., default: 3}
  hooks:
    type: array
    description: What runs first.
    items:
      type: object
      properties:
        name: {type: string, description: Its name.}
  extra: {$ref: AppService.spec.envs, description: More variables.}
  labels: {type: object, description: Labels., additionalProperties: {type: string}}
`
	const all = "{{ .Values.topology.zoneCount }}{{ range .Values.hooks }}{{ .name }}{{ end }}{{ toJson .Values.extra }}{{ toJson .Values.labels }}"
	cases := map[string]struct {
		kind     schema.GroupVersionKind
		template string
		want     []string
	}{
		"a mistake: set without anything to set": {appService, all + "{{ .Values.topology | set }}", nil},
		"all are used":                           {appService, all, nil},
		"a field that nobody declares": {
			appService, all + "\n{{ .Values.topologie.zoneCount }}",
			[]string{"chart/templates/a.yaml:2: .Values.topologie is not declared: did you mean topology?"},
		},
		"one that is like no other": {
			appService, all + "{{ .Values.backupWindow }}",
			[]string{"chart/templates/a.yaml:1: .Values.backupWindow is not declared: declare it in chart/fields.yaml"},
		},
		"within an object": {
			appService, all + "\n\n{{ with .Values.topology }}{{ .zones }}{{ end }}",
			[]string{"chart/templates/a.yaml:3: .Values.topology.zones is not declared"},
		},
		"within a type of Kubernetes'": {
			appService, all + "{{ range .Values.extra }}{{ .nam }}{{ end }}{{ .Values.resources.limit }}",
			[]string{".Values.extra[].nam is not declared: did you mean name?", ".Values.resources.limit is not declared: did you mean limits?"},
		},
		"behind a variable, and a template that another one includes": {
			appService, all + `{{ $t := .Values.topology }}{{ $t.zones }}{{ define "x" }}{{ $hook := index . 1 }}{{ (index . 0).Values.siz }}{{ $hook.title }}{{ end }}{{ range .Values.hooks }}{{ include "x" (list $ .) }}{{ end }}`,
			[]string{".Values.hooks[].title is not declared", ".Values.siz is not declared: did you mean size?", ".Values.topology.zones is not declared"},
		},
		"what the template adds itself": {
			appService, all + `{{ range .Values.hooks }}{{ $h := deepCopy . }}{{ $_ := set $h "more" 1 }}{{ $h.more }}{{ end }}{{ $d := dict "a" 1 }}{{ $d.b }}`, nil,
		},
		"a value of the chart's own, and what is Helm's": {appService, all + "{{ .Values.own }}{{ .Values.global.x }}{{ .Release.Name }}{{ .Chart.Version }}", nil},
		"one is used by no template": {
			appService, "{{ .Values.topology.zoneCount }}{{ if .Values.hooks }}{{ toJson .Values.labels }}{{ end }}",
			[]string{"chart/fields.yaml:14: spec.hooks[].name is used by no template", "chart/fields.yaml:15: spec.extra is used by no template"},
		},
		"used as a whole":       {appService, "{{ toJson .Values }}", nil},
		"one that is asked for": {appService, `{{ if hasKey .Values.topology "zoneCount" }}{{ end }}` + strings.Replace(all, "{{ .Values.topology.zoneCount }}", "", 1), nil},
		"used in a template that nothing includes": {
			appService, `{{ define "x" }}{{ .Values.topology.zoneCount }}{{ end }}` + strings.Replace(all, "{{ .Values.topology.zoneCount }}", "", 1),
			[]string{"chart/fields.yaml:7: spec.topology.zoneCount is used by no template"},
		},
		"a kind without a Go type": {
			schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Web"}, all + "{{ .Values.size }}",
			[]string{".Values.size is not declared"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := chart.Load(fstest.MapFS{
				"chart/Chart.yaml":       {Data: []byte("apiVersion: v2\nname: chart\nversion: 1.0.0\n")},
				"chart/values.yaml":      {Data: []byte("own: 1\n")},
				"chart/fields.yaml":      {Data: []byte(declared)},
				"chart/templates/a.yaml": {Data: []byte(test.template)},
			}, "chart")
			require.NoError(t, err)
			found, err := usedvalues.Compare(c, "chart", test.kind)
			require.NoError(t, err)
			got := slices.Concat(found.Undeclared, found.Unused)
			slices.SortFunc(got, func(a, b fields.Problem) int { return strings.Compare(a.Error(), b.Error()) })
			if len(got) != len(test.want) {
				t.Fatalf("got %d problems:\n%v\nwant %d", len(got), got, len(test.want))
			}
			for i := range got {
				if !strings.Contains(got[i].Error(), test.want[i]) {
					t.Errorf("got %v, want %s", got[i], test.want[i])
				}
			}
		})
	}
}

// The charts here use what is declared, and declare what they use.
func TestTheChartsHereUseWhatIsDeclared(t *testing.T) {
	text, err := os.ReadFile("../../../../watches.yaml")
	require.NoError(t, err)
	list, err := chart.LoadWatches(text, appservice.Files)
	require.NoError(t, err)
	for _, watch := range list {
		if watch.Is() {
			continue // it declares nothing
		}
		found, err := usedvalues.Compare(watch.Chart, watch.ChartPath, watch.GroupVersionKind)
		require.NoError(t, err)
		for _, problem := range slices.Concat(found.Undeclared, found.Unused, found.Ignored, found.Idle) {
			t.Error(problem)
		}
	}
}

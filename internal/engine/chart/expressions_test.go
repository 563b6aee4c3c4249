package chart

import (
	"bytes"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
)

func TestWrongExpressionsAreRefusedWithTheirPlace(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  annotations:\n"
	cases := map[string]struct {
		template string
		want     []string // none: it is loaded
	}{
		"a right one":                       {object + "    app.example.com/ready-when: self.data.a == 'b'\n", nil},
		"a wrong one":                       {object + "    app.example.com/ready-when: self.data.a = 1\n", []string{"templates/object.yaml:6 annotation app.example.com/ready-when: column 13: "}},
		"true without quotes":               {object + "    app.example.com/ready-when: true\n", []string{"object.yaml:6", "not a string: quote it"}},
		"a message that is not a string":    {object + "    app.example.com/ready-when: 'true'\n    app.example.com/ready-message: 1 == 1\n", []string{"object.yaml:7", "ready-message", "returns a bool, but must return a string"}},
		"a wrong one in quotes":             {object + "    \"app.example.com/ready-when\": \"self.a == \\\"\"\n", []string{"object.yaml:6", "column "}},
		"a right one of several lines":      {object + "    app.example.com/ready-when: >-\n      self.a == 1 &&\n\n      self.b == 2\n    x: y\n", nil},
		"a plain one of several lines":      {object + "    app.example.com/ready-when: self.a == 1 &&\n      self.b == 2\n    x: y\n", nil},
		"a wrong one of several lines":      {object + "    app.example.com/ready-when: |\n      self.a == 1\n      self.b == 2\n", []string{"object.yaml:6", "Syntax error"}},
		"one in a branch that is off":       {"{{ if .Values.on }}\n" + object + "    app.example.com/ready-when: self.\n{{ end }}\n", []string{"object.yaml:7"}},
		"after a comment of several lines":  {"{{- /* one\ntwo */ -}}\n" + object + "    app.example.com/ready-when: self.\n", []string{"object.yaml:8"}},
		"one within a comment":              {"{{/*\napp.example.com/ready-when: self.\n*/}}\n# app.example.com/ready-when: self.\n" + object + "    a: b\n", nil},
		"one that a template computes":      {object + "    app.example.com/ready-when: self.{{ .Values.field }}.\n", nil},
		"one that a template computes late": {object + "    app.example.com/ready-when: >-\n      self.\n      {{ .Values.field }}\n", nil},
		"one in a chart of wrong defaults":  {object + "    app.example.com/ready-when: self.\n{{ fail \"no\" }}", []string{"object.yaml:6"}},
		"none, in a chart of such":          {object + "{{ fail \"no\" }}", nil},
		"an annotation with a longer name":  {object + "    app.example.com/ready-whenever: self.\n", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := minimal()
			files["templates/object.yaml"] = tc.template
			_, err := Load(memory("web", files), "web")
			if len(tc.want) == 0 && err != nil {
				t.Error(err)
			}
			for _, part := range tc.want {
				assert.ErrorContains(t, err, part)
			}
		})
	}
	files := minimal()
	maps.Copy(files, subchart("sub"))
	files["charts/sub/templates/object.yaml"] = object + "    app.example.com/ready-when: self.\n"
	if _, err := Load(memory("web", files), "web"); err == nil || !strings.Contains(err.Error(), "charts/sub/templates/object.yaml:6 ") {
		t.Errorf("a subchart: got %v", err)
	}
}

// TestTheChartsHereLoad is part of make lint-chart: helm lint knows no expressions.
func TestTheChartsHereLoad(t *testing.T) {
	for _, dir := range []string{shipped, "config/chart"} {
		if _, err := Load(os.DirFS("../../.."), dir); err != nil {
			t.Error(err)
		}
	}
}

func TestTheExamplesInTheDocumentationAreRight(t *testing.T) {
	text, err := os.ReadFile("../../../docs/chart-maintainers.md")
	require.NoError(t, err)
	check := func(text []byte) error {
		return checkExpressions(&chart.Chart{Metadata: &chart.Metadata{Name: "docs"}, Templates: []*chart.File{{Name: "text", Data: text}}})
	}
	assert.NoError(t, check(text))
	for _, example := range []string{`.phase == "Bound"`, `c.type == "Ready" &&`, `[0].message`} {
		if check(bytes.ReplaceAll(text, []byte(example), []byte("("))) == nil {
			t.Errorf("%q is not looked at", example)
		}
	}
}

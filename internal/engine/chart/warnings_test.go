package chart

import (
	"fmt"
	"slices"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
)

// Only Jobs that run once wait for the rest of their release.
func TestAStageThatHasNoEffectIsNamed(t *testing.T) {
	const job = `kind: Job
metadata:
  annotations:
    app.example.com/rerun-on-change: "true"
    app.example.com/stage: after
`
	const config = `kind: ConfigMap
metadata:
  annotations: {}
`
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a Job that runs once":               {job, nil},
		"a Job without the other annotation": {"kind: Job\nmetadata:\n  annotations:\n    app.example.com/stage: after\n", []string{"4:5"}},
		"with an empty one":                  {"    app.example.com/rerun-on-change: \"\"\n    app.example.com/stage: after\n", []string{"2:5"}},
		"another object":                     {config + "    app.example.com/stage: \"after\"\n", []string{"4:5"}},
		"another object behind such a Job":   {job + "---\n" + config + "    'app.example.com/stage': after\n", []string{"10:5"}},
		"such a Job behind another object":   {config + "    app.example.com/stage: after\n---\n" + job, []string{"4:5"}},
		"another stage":                      {config + "    app.example.com/stage: before\n", nil},
		"a stage that the template computes": {config + "    app.example.com/stage: {{ .Values.stage }}\n", nil},
		"a comment":                          {"{{/*\n    app.example.com/stage: after\n*/}}\n" + config, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := &chart.Chart{Metadata: &chart.Metadata{Name: "web"}, Templates: []*chart.File{{Name: "templates/web.yaml", Data: []byte(test.text)}}}
			var got []string
			for _, fault := range Warnings(c) {
				got = append(got, fmt.Sprintf("%d:%d", fault.Line, fault.Column))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v: %v", got, test.want, Warnings(c))
			}
		})
	}
}

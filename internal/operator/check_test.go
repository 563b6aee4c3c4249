package operator

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Parts of a chart without an effect are a warning, subcharts included.
func TestTheCheckNamesWhatHasNoEffect(t *testing.T) {
	options := byDefault()
	options.ChartDir = chartFiles(t, map[string]string{
		"helm-charts/appjob/charts/child/Chart.yaml":         "apiVersion: v2\nname: child\nversion: 1.0.0\n",
		"helm-charts/appjob/charts/child/values.schema.json": `{"$ref": "https://example.com/a.json"}`,
		"helm-charts/appjob/charts/child/crds/one.yaml":      "{}",
		"helm-charts/appjob/crds/one.yaml":                   "{}",
		"helm-charts/appjob/crds/two.json":                   "{}",
		"helm-charts/appjob/crds/README.md":                  "what they are",
	})
	warnings, err := CheckFiles(options, nil)
	require.NoError(t, err)
	warnings = slices.DeleteFunc(warnings, func(warning string) bool { return !strings.Contains(warning, "the chart of App") })
	const install = "): this operator creates no CustomResourceDefinitions; install them before the operator, as in kubectl apply --server-side -f "
	const ignore = ", and list crds/ in the .helmignore of the chart"
	require.Equal(t, []string{
		"the chart of AppJob: crds: is not installed (one.yaml and 1 more" + install + "crds" + ignore,
		`the chart of AppJob: charts/child/values.schema.json:1 refers to "https://example.com/a.json", which is not read: what it stands for is not checked; copy that schema below $defs of this file, and refer to it there`,
		"the chart of AppJob: charts/child/crds: is not installed (one.yaml" + install + "charts/child/crds" + ignore,
	}, warnings)
}

// A stage that has no effect on its object is a mistake before the chart is served, and a warning where it is.
func TestTheCheckRefusesAStageWithoutEffect(t *testing.T) {
	options := byDefault()
	options.ChartDir = chartFiles(t, map[string]string{
		"helm-charts/appjob/templates/smoke.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: smoke\n  annotations:\n    app.example.com/stage: after\n"})
	_, err := CheckFiles(options, nil)
	require.ErrorContains(t, err, "the chart of AppJob: templates/smoke.yaml:6 annotation app.example.com/stage: after has no effect")
	_, err = options.charts()
	require.NoError(t, err)
}

// All broken charts are named, in the order of their kinds.
func TestTheCheckNamesAllMistakesInOneOrder(t *testing.T) {
	const crd = "{{- if .Values.on }}\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n{{- end }}\n"
	watches, files := "", map[string]string{}
	for _, kind := range []string{"Gadget", "Widget", "Apple", "Zebra", "Melon"} {
		name := strings.ToLower(kind)
		watches += "- {group: example.com, version: v1, kind: " + kind + ", chart: " + name + "}\n"
		files[name+"/Chart.yaml"] = "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n"
		files[name+"/templates/crd.yaml"] = crd
	}
	files["gadget/templates/crd.yaml"] = "{{- /*\n" + crd[20:len(crd)-12] + "*/}}\n"
	files["watches.yaml"] = watches
	files["policy.yaml"] = "default: {maxReplica: 5}\n"
	options := byDefault()
	options.ChartDir = chartFiles(t, files)
	options.WatchesFile, options.Policy = filepath.Join(options.ChartDir, "watches.yaml"), filepath.Join(options.ChartDir, "policy.yaml")
	for range 10 {
		_, err := CheckFiles(options, nil)
		var got []string
		for _, each := range err.(interface{ Unwrap() []error }).Unwrap() {
			got = append(got, strings.ReplaceAll(each.Error(), options.ChartDir, ""))
		}
		require.Len(t, got, 5)
		for i, kind := range []string{"Apple", "Melon", "Widget", "Zebra"} {
			require.Equal(t, "the chart of "+kind+" cannot be used: cannot load chart "+strings.ToLower(kind)+": templates/crd.yaml:3 renders a CustomResourceDefinition, which cannot be watched: this operator writes no definitions of kinds: they are for the whole cluster; remove it from the chart, or create it before the operator is installed", got[i])
		}
		require.Contains(t, got[4], "default.maxReplica is not known")
	}
}

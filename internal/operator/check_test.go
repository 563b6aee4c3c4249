package operator

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What has no effect in a chart is a warning, subcharts included.
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
	warnings, err := CheckFiles(options)
	require.NoError(t, err)
	const install = "): this operator creates no CustomResourceDefinitions; install them before the operator, as in kubectl apply --server-side -f "
	const ignore = ", and list crds/ in the .helmignore of the chart"
	require.Equal(t, []string{
		"the chart of AppJob: crds: is not installed (one.yaml and 1 more" + install + "crds" + ignore,
		`the chart of AppJob: charts/child/values.schema.json:1 refers to "https://example.com/a.json", which is not read: what it stands for is not checked; copy that schema below $defs of this file, and refer to it there`,
		"the chart of AppJob: charts/child/crds: is not installed (one.yaml" + install + "charts/child/crds" + ignore,
	}, warnings)
}

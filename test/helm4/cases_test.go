// Package helm4 compares Helm 4 with the Helm 3 that the operator is built on: what both render, and whether each reads
// the release records of the other. ADR 40 says what follows from it.
package helm4

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	chart3 "helm.sh/helm/v3/pkg/chart"
	values3 "helm.sh/helm/v3/pkg/chartutil"
	engine3 "helm.sh/helm/v3/pkg/engine"
	common4 "helm.sh/helm/v4/pkg/chart/common"
	values4 "helm.sh/helm/v4/pkg/chart/common/util"
	chart4 "helm.sh/helm/v4/pkg/chart/v2"
	loader4 "helm.sh/helm/v4/pkg/chart/v2/loader"
	util4 "helm.sh/helm/v4/pkg/chart/v2/util"
	engine4 "helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/test/files"
)

// goldenCase is a resource, and the chart of its kind as both versions of Helm load it.
type goldenCase struct {
	name     string
	resource *unstructured.Unstructured
	renderer *render.Renderer // with the chart of Helm 3
	four     *chart4.Chart
}

// goldenCases are those of all kinds that the operator serves.
func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	root := files.Root(t)
	served, err := appchart.LoadWatches(files.Text(t, "watches.yaml"), os.DirFS(root))
	require.NoError(t, err)
	kinds := map[schema.GroupVersionKind]goldenCase{}
	for _, watch := range served {
		if watch.Is() {
			continue
		}
		four, err := loader4.LoadDir(filepath.Join(root, watch.ChartPath))
		require.NoError(t, err)
		four.Values = watch.Chart.Values // with the defaults of fields.yaml
		kinds[watch.GroupVersionKind] = goldenCase{renderer: render.For(watch, watch.Chart), four: four}
	}
	var list []goldenCase
	for _, pattern := range []string{"cases/*", "kinds/*/*"} {
		found, err := filepath.Glob(filepath.Join(root, "test/testdata", pattern, "cr.yaml"))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, file := range found {
			resource := files.Objects(t, file)[0]
			resource.SetNamespace("shop")
			resource.SetUID(render.PlaceholderUID)
			one, own := kinds[resource.GroupVersionKind()]
			if !own {
				continue // of a chart that is served as it was published
			}
			one.name, one.resource = filepath.Base(filepath.Dir(file)), resource
			list = append(list, one)
		}
	}
	return list
}

// withThree returns the text of each template as Helm 3 renders it.
func withThree(c *chart3.Chart, vals map[string]any, name string) (map[string]string, error) {
	if err := values3.ProcessDependenciesWithMerge(c, vals); err != nil {
		return nil, err
	}
	options := values3.ReleaseOptions{Name: name, Namespace: "shop", Revision: 1, IsInstall: true}
	input, err := values3.ToRenderValues(c, vals, options, render.Serving(c))
	if err != nil {
		return nil, err
	}
	return engine3.Engine{}.Render(c, input)
}

// withFour returns the text of each template as Helm 4 renders it. Three is the same chart.
func withFour(c *chart4.Chart, three *chart3.Chart, vals map[string]any, name string) (map[string]string, error) {
	caps := common4.DefaultCapabilities.Copy()
	caps.APIVersions = common4.VersionSet(render.Serving(three).APIVersions)
	if err := util4.ProcessDependencies(c, vals); err != nil {
		return nil, err
	}
	options := common4.ReleaseOptions{Name: name, Namespace: "shop", Revision: 1, IsInstall: true}
	input, err := values4.ToRenderValues(c, vals, options, caps)
	if err != nil {
		return nil, err
	}
	return engine4.Engine{}.RenderWithContext(context.Background(), c, input)
}

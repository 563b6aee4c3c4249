package preview

import (
	"errors"
	"io/fs"
	"slices"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appservice "github.com/example/appservice-operator"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/hosts"
)

// Charts are one version of the served kinds and their charts.
type Charts struct {
	// Watches are the entries of watches.yaml.
	Watches   []chart.Watch
	Renderers map[schema.GroupVersionKind]*render.Renderer
	// Selectors select the resources of a kind that are served.
	Selectors map[schema.GroupVersionKind]labels.Selector
}

// LoadCharts returns the charts in a folder like the manager's --chart-dir. If it has no watches.yaml, the built-in one
// is used.
func LoadCharts(files fs.FS) (*Charts, error) {
	text, err := fs.ReadFile(files, watchesFile)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = fs.ReadFile(appservice.Files, watchesFile)
	}
	if err != nil {
		return nil, err
	}
	list, err := chart.LoadWatches(text, files)
	if err != nil {
		return nil, err
	}
	return ChartsOf(list)
}

const watchesFile = "watches.yaml"

// ChartsOf returns the charts of the entries of a watches.yaml.
func ChartsOf(list []chart.Watch) (*Charts, error) {
	c := &Charts{
		Watches: list, Renderers: map[schema.GroupVersionKind]*render.Renderer{},
		Selectors: map[schema.GroupVersionKind]labels.Selector{},
	}
	for _, entry := range list {
		kind := entry.GroupVersionKind
		selector, err := metav1.LabelSelectorAsSelector(entry.Selector)
		if err != nil {
			return nil, err
		}
		renderer := render.For(entry, entry.Chart)
		renderer.Limit = hosts.Limit
		c.Renderers[kind], c.Selectors[kind] = renderer, selector
	}
	return c, nil
}

// Kinds returns the kinds that one of two versions serves.
func Kinds(before, after *Charts) []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for _, entry := range slices.Concat(after.Watches, before.Watches) {
		if !slices.Contains(all, entry.GroupVersionKind) {
			all = append(all, entry.GroupVersionKind)
		}
	}
	return all
}

// Serving returns the capabilities to assume for an unknown cluster: it serves all kinds in the templates of the
// charts.
func Serving(all ...*Charts) *chartutil.Capabilities {
	var list []*helmchart.Chart
	for _, charts := range all {
		for _, entry := range charts.Watches {
			list = append(list, entry.Chart)
		}
	}
	return render.Serving(list...)
}

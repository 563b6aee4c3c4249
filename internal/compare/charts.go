// Package compare compares two renderings of a resource. It reports the effects of a change first (pods restart, ports and hosts
// are removed, data is lost, the API server refuses it), then the differences. It renders with the manager's own code. It neither
// reads nor writes a cluster, whose state the caller passes in, and it returns lines instead of printing them.
package compare

import (
	"slices"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/watches"
)

// Charts are one version of the served kinds and their charts.
type Charts struct {
	// Kinds are in the order of watches.yaml.
	Kinds     []schema.GroupVersionKind
	Renderers map[schema.GroupVersionKind]*render.Renderer
	// Selectors select the resources of a kind that are served.
	Selectors map[schema.GroupVersionKind]labels.Selector
}

// ChartsOf returns the charts of the entries of a watches.yaml.
func ChartsOf(list []watches.Watch) (*Charts, error) {
	c := &Charts{Renderers: map[schema.GroupVersionKind]*render.Renderer{}, Selectors: map[schema.GroupVersionKind]labels.Selector{}}
	for _, entry := range list {
		kind := entry.GroupVersionKind
		selector, err := metav1.LabelSelectorAsSelector(entry.Selector)
		if err != nil {
			return nil, err
		}
		c.Kinds = append(c.Kinds, kind)
		c.Renderers[kind] = render.For(entry, entry.Chart)
		c.Selectors[kind] = selector
	}
	return c, nil
}

// Kinds returns the kinds that one of two versions serves.
func Kinds(before, after *Charts) []schema.GroupVersionKind {
	all := slices.Clone(after.Kinds)
	for _, kind := range before.Kinds {
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// Serving returns the capabilities to assume for an unknown cluster: it serves all kinds in the templates of the charts.
func Serving(all ...*Charts) *chartutil.Capabilities {
	var list []*helmchart.Chart
	for _, charts := range all {
		for _, kind := range charts.Kinds {
			list = append(list, charts.Renderers[kind].Chart)
		}
	}
	return render.Serving(list...)
}

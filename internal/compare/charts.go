// Package compare owns what a change means: of two renderings of a resource it says what differs, and first what comes of that (pods restart,
// ports and hosts go away, data is lost, the API server refuses it). It renders with the manager's own code, compares nothing but renderings,
// and neither reads nor writes a cluster: the caller says what is there. It prints nothing, it returns lines.
package compare

import (
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/watches"
)

// Charts are one version of what the operator serves.
type Charts struct {
	// Kinds in the order of watches.yaml.
	Kinds     []schema.GroupVersionKind
	Renderers map[schema.GroupVersionKind]*render.Renderer
	// Selectors say which resources of a kind are served.
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

// Kinds are those that one of two versions serves.
func Kinds(before, after *Charts) []schema.GroupVersionKind {
	all := slices.Clone(after.Kinds)
	for _, kind := range before.Kinds {
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// Serving are the capabilities of a cluster of which nothing else is known: it serves all kinds that the templates of some charts name.
func Serving(all ...*Charts) *chartutil.Capabilities {
	capabilities := chartutil.DefaultCapabilities.Copy()
	for _, charts := range all {
		for _, kind := range charts.Kinds {
			for _, rendered := range chart.Kinds(charts.Renderers[kind].Chart) {
				name := rendered.GroupVersion().String() + "/" + rendered.Kind
				if !scheme.Scheme.Recognizes(rendered) && !capabilities.APIVersions.Has(name) {
					capabilities.APIVersions = append(slices.Clone(capabilities.APIVersions), name)
				}
			}
		}
	}
	return capabilities
}

package render

import (
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/client-go/kubernetes/scheme"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/values"
)

// For returns the renderer of an entry of watches.yaml with a chart, which may differ from the one that it names.
func For(entry appchart.Watch, c *chart.Chart) *Renderer {
	translator, bound := values.For(entry.GroupVersionKind, c, entry.OverrideValues), limits.Bound(0)
	if entry.Is() {
		translator, bound = values.Unchanged(entry.OverrideValues), limits.Published
	}
	return &Renderer{
		Chart:      c,
		Translator: translator,
		Published:  entry.Published,
		Bound:      bound,
		Platform: Platform{
			Kind: entry.GroupVersionKind, Defaults: entry.DefaultValues, Namespaces: entry.NamespaceDefaults,
			Overrides: entry.OverrideValues,
		},
		Hooks: postrender.Default(),
	}
}

// Option returns the name of the right to serve a published chart; empty for any other chart.
func (r *Renderer) Option() string {
	if !r.Published.Is() {
		return ""
	}
	return strings.ToLower(r.Platform.Kind.Kind)
}

// PlaceholderUID is the UID of resources that do not exist in a cluster.
const PlaceholderUID = "00000000-0000-4000-8000-000000000000"

// Newest is the version of Kubernetes that the built-in types belong to.
var Newest = chartutil.KubeVersion{Version: "v1.37.0", Major: "1", Minor: "37"}

// Serving returns the capabilities to assume of an unknown cluster: the newest one, which serves all kinds in the
// templates of the charts.
func Serving(charts ...*chart.Chart) *chartutil.Capabilities {
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = Newest
	for _, c := range charts {
		for _, kind := range appchart.Kinds(c) {
			name := kind.GroupVersion().String() + "/" + kind.Kind
			if !scheme.Scheme.Recognizes(kind) && !capabilities.APIVersions.Has(name) {
				capabilities.APIVersions = append(slices.Clone(capabilities.APIVersions), name)
			}
		}
	}
	return capabilities
}

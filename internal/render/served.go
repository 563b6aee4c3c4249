package render

import (
	"helm.sh/helm/v3/pkg/chart"

	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/values"
	"github.com/example/appservice-operator/internal/watches"
)

// For returns the renderer of an entry of watches.yaml with a chart, which may differ from the one that it names.
func For(entry watches.Watch, c *chart.Chart) *Renderer {
	return &Renderer{
		Chart:      c,
		Translator: values.For(entry.GroupVersionKind, c, entry.OverrideValues),
		Platform: Platform{
			Kind: entry.GroupVersionKind, Defaults: entry.DefaultValues, Namespaces: entry.NamespaceDefaults, Overrides: entry.OverrideValues,
		},
		Hooks: postrender.Default(),
	}
}

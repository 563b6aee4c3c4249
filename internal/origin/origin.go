// Package origin owns the origin of each value that a chart's templates see: the spec, the defaults of the namespace or the platform, the
// platform's overrides, or the chart. It compares the renderer's output with and without each of them, so it knows no field.
package origin

import (
	"context"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/defaults"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/values"
)

// Source describes where a value comes from.
type Source string

// The sources besides the names of layers.
const (
	Spec     Source = "spec"
	Platform Source = "overrideValues of watches.yaml"
	Chart    Source = "chart"
)

// Value is a value that templates see: a scalar, a list, or a map without entries.
type Value struct {
	Path   []string `json:"path"`
	Value  any      `json:"value"`
	Origin Source   `json:"origin"`
}

// Of lists the values of a resource, sorted by their paths. The layers lie beneath its spec, the highest first.
func Of(ctx context.Context, renderer *render.Renderer, resource *unstructured.Unstructured, layers []defaults.Layer, capabilities *chartutil.Capabilities) ([]Value, error) {
	under, _ := renderer.Under(resource, layers)
	final, err := renderer.Values(ctx, under, capabilities)
	if err != nil {
		return nil, err
	}
	translator := values.For(renderer.Platform.Kind, renderer.Chart, nil)
	own, _, err := values.Read(ctx, translator, resource)
	if err != nil {
		return nil, err
	}
	filled, _, err := values.Read(ctx, translator, under)
	if err != nil {
		return nil, err
	}
	over := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(renderer.Platform.Overrides)) {
		if err := strvals.ParseInto(key+"="+renderer.Platform.Overrides[key], over); err != nil {
			return nil, &values.OverrideError{Key: key, Err: err}
		}
	}
	var list []Value
	leaves(final.AsMap(), nil, func(path []string, value any) {
		source := Chart
		switch {
		case says(over, path):
			source = Platform
		case says(own, path):
			source = Spec
		case says(filled, path):
			source = layerOf(layers, path)
		}
		list = append(list, Value{Path: path, Value: value, Origin: source})
	})
	return list, nil
}

// layerOf returns the source of the highest layer that sets a path.
func layerOf(layers []defaults.Layer, path []string) Source {
	for _, layer := range layers {
		if says(layer.Values, path) {
			return Source(layer.Source)
		}
	}
	return Spec // added by the translation of a field
}

// leaves calls visit for everything except maps with entries.
func leaves(in map[string]any, path []string, visit func(path []string, value any)) {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		at := append(slices.Clone(path), key)
		if nested, isMap := in[key].(map[string]any); isMap && len(nested) > 0 {
			leaves(nested, at, visit)
			continue
		}
		visit(at, in[key])
	}
}

// says reports whether a path is set, or a value that is not a map is on the way to it.
func says(in map[string]any, path []string) bool {
	var at any = in
	for _, key := range path {
		content, isMap := at.(map[string]any)
		if !isMap {
			return at != nil
		}
		next, there := content[key]
		if !there {
			return false
		}
		at = next
	}
	return true
}

// Name returns the path of a value for people, for example resources.limits.cpu.
func (v Value) Name() string { return strings.Join(v.Path, ".") }

package preview

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/engine/values"
)

// Source describes where a value comes from.
type Source string

// The sources besides the names of layers.
const (
	FromSpec     Source = "spec"
	FromPlatform Source = "overrideValues of watches.yaml"
	FromChart    Source = "chart"
)

// Value is a value that templates see: a scalar, a list, or a map without entries.
type Value struct {
	Path   []string `json:"path"`
	Value  any      `json:"value"`
	Origin Source   `json:"origin"`
}

// ValuesOf lists the values that the templates of a chart see, sorted by their paths, each with its origin. It compares
// them with and without each source, so it knows no field.
func ValuesOf(ctx context.Context, renderer *render.Renderer, in render.Input) ([]Value, error) {
	layers, err := renderer.Layers(in.Defaults)
	if err != nil {
		return nil, err
	}
	final, err := renderer.Values(ctx, in, layers)
	if err != nil {
		return nil, err
	}
	translator := values.For(renderer.Platform.Kind, renderer.Chart, nil)
	own, _, err := values.Read(ctx, translator, in.Resource)
	if err != nil {
		return nil, err
	}
	under, _ := renderer.Under(in.Resource, layers)
	filled, _, err := values.Read(ctx, translator, under)
	if err != nil {
		return nil, err
	}
	over := map[string]any{}
	if err := values.Override(over, renderer.Platform.Overrides); err != nil {
		return nil, err
	}
	var list []Value
	leaves(final.AsMap(), nil, func(path []string, value any) {
		// the last source that a render applies comes first: overrides replace the spec, which lies over defaults
		source := FromChart
		switch {
		case sets(over, path):
			source = FromPlatform
		case sets(own, path):
			source = FromSpec
		case sets(filled, path):
			source = layerOf(layers, path)
		}
		list = append(list, Value{Path: path, Value: value, Origin: source})
	})
	return list, nil
}

// layerOf returns the source of the highest layer that sets a path.
func layerOf(layers []defaults.Layer, path []string) Source {
	for _, layer := range layers {
		if sets(layer.Values, path) {
			return Source(layer.Source)
		}
	}
	return FromSpec // added by the translation of a field
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

// sets reports whether a path is set, or a value that is not a map is on the way to it.
func sets(in map[string]any, path []string) bool {
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

// ValuesYAML formats values as a values.yaml, each with its origin as a comment if requested.
func ValuesYAML(list []Value, origins bool) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, value := range list {
		at := root
		for _, key := range value.Path[:len(value.Path)-1] {
			at = entry(at, key)
		}
		key, content := scalar(value.Path[len(value.Path)-1]), &yaml.Node{}
		if err := content.Encode(value.Value); err != nil {
			return nil, fmt.Errorf("%s: %w", value.Name(), err)
		}
		quote(content)
		if origins && len(content.Content) > 0 {
			key.HeadComment = "# " + string(value.Origin) // the list is below
		} else if origins {
			content.LineComment = "# " + string(value.Origin)
		}
		at.Content = append(at.Content, key, content)
	}
	var out bytes.Buffer
	printer := yaml.NewEncoder(&out)
	printer.SetIndent(2)
	if err := printer.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func scalar(value string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(value)
	quote(node)
	return node
}

// quote puts texts with controls for terminals in double quotes, where their escapes mean the same.
func quote(node *yaml.Node) {
	if strings.IndexFunc(node.Value, text.IsControl) >= 0 {
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, inner := range node.Content {
		quote(inner)
	}
}

// entry returns the map at a key, and creates it if there is none. Values come sorted, so it is the last entry.
func entry(in *yaml.Node, key string) *yaml.Node {
	if count := len(in.Content); count > 0 && in.Content[count-2].Value == key {
		return in.Content[count-1]
	}
	made := &yaml.Node{Kind: yaml.MappingNode}
	in.Content = append(in.Content, scalar(key), made)
	return made
}

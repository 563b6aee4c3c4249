//go:build cluster

package injection

import (
	"slices"
	"strings"

	"github.com/example/appservice-operator/test/specs"
)

// form is how a step leads to the next value.
type form int

const (
	property form = iota // the field of an object
	item                 // the only item of a list
	key                  // the only key of a map, or its value
)

// step is one step on the way from spec to a leaf.
type step struct {
	form form
	name string // of a property
}

// leaf is a text that a spec can hold, or the key of a map.
type leaf struct {
	path []step
	// isKey says that the leaf is the key that the last step leads by, not the value there.
	isKey bool
	// limited says that the leaf selects the rendered objects, as one of a few words.
	limited bool
	// sound are values that are always accepted: all of those few words.
	sound []any
}

// silent reports whether nothing is rendered of a leaf, whatever it holds: how long a resource lives, how sidecars
// start again, and how images are pulled, which is compared as what follows from their tags.
func (l leaf) silent() bool {
	name := l.path[len(l.path)-1].name
	return slices.Contains([]string{"spec.ttl", "spec.sidecars[].restartPolicy"}, l.String()) || name == "imagePullPolicy"
}

// String is the path as in spec.podLabels{}.
func (l leaf) String() string {
	text := "spec" + pathOf(l.path)
	if l.isKey {
		return "a key of " + strings.TrimSuffix(text, "{}")
	}
	return text
}

func pathOf(path []step) string {
	var out strings.Builder
	for _, s := range path {
		out.WriteString([]string{"." + s.name, "[]", "{}"}[s.form])
	}
	return out.String()
}

// leavesOf lists the leaves below a node.
func leavesOf(node specs.Node, path []step) []leaf {
	below := func(s step) []step { return append(path[:len(path):len(path)], s) }
	var list []leaf
	if node.Type == "string" || node.XIntOrString {
		list = append(list, leaf{path: path, limited: len(node.Enum) > 0, sound: soundOf(node)})
	}
	for _, name := range specs.SortedKeys(node.Properties) {
		list = append(list, leavesOf(node.Properties[name], below(step{name: name}))...)
	}
	if node.Items != nil && node.Items.Schema != nil {
		list = append(list, leavesOf(*node.Items.Schema, below(step{form: item}))...)
	}
	if node.AdditionalProperties != nil && node.AdditionalProperties.Schema != nil {
		keyed := below(step{form: key})
		list = append(list, leaf{path: keyed, isKey: true, sound: []any{"a"}})
		list = append(list, leavesOf(*node.AdditionalProperties.Schema, keyed)...)
	}
	return list
}

func soundOf(node specs.Node) []any {
	var words []any
	for _, word := range node.Enum {
		words = append(words, strings.Trim(string(word.Raw), `"`))
	}
	if words == nil {
		words = []any{minimal(node)}
	}
	return words
}

// minimal is the least that a value of a node can be. Required fields are set; texts are harmless words.
func minimal(node specs.Node) any {
	switch {
	case len(node.Enum) > 0:
		return strings.Trim(string(node.Enum[0].Raw), `"`)
	case node.XIntOrString:
		return int64(1)
	case node.Type == "string" && node.Pattern != "":
		if values, err := specs.Generate(node); err == nil {
			return values[0]
		}
		return "a"
	case node.Type == "string":
		return "a"
	case node.Type == "integer", node.Type == "number":
		return int64(1)
	case node.Type == "boolean":
		return true
	case node.Type == "array":
		return []any{minimal(*node.Items.Schema)}
	}
	object := map[string]any{}
	for _, name := range node.Required {
		object[name] = minimal(node.Properties[name])
	}
	return object
}

// put sets a leaf in the value at a node, and returns the new value.
func (l leaf) put(node specs.Node, current any, path []step, text any) any {
	if len(path) == 0 {
		return text
	}
	switch path[0].form {
	case item:
		var first any
		if list, _ := current.([]any); len(list) > 0 {
			first = list[0]
		}
		return []any{l.put(*node.Items.Schema, first, path[1:], text)}
	case key:
		if l.isKey && len(path) == 1 {
			return map[string]any{text.(string): minimal(*node.AdditionalProperties.Schema)}
		}
		return map[string]any{"a": l.put(*node.AdditionalProperties.Schema, nil, path[1:], text)}
	}
	object, _ := current.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	for _, name := range node.Required {
		if _, found := object[name]; !found && name != path[0].name {
			object[name] = minimal(node.Properties[name])
		}
	}
	object[path[0].name] = l.put(node.Properties[path[0].name], object[path[0].name], path[1:], text)
	return object
}

package fields

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// node is a place among the values of a chart, by its path in the spec, with its schema or Go type if known.
type node struct {
	path   string
	schema *props       // of fields.yaml
	typ    reflect.Type // of a Go type
	fields map[string]*node
}

// valuesOf returns the root of the values; nil if the kind has neither a Go type nor a fields.yaml.
func valuesOf(c *chart.Chart, kind schema.GroupVersionKind, declared *File) *node {
	core, typed := Core(kind)
	if !typed && declared == nil {
		return nil
	}
	top := map[string]*node{"global": {path: "spec.global"}}
	for name := range c.Values {
		top[name] = &node{path: "spec." + name}
	}
	for _, dependency := range c.Dependencies() {
		top[dependency.Name()] = &node{path: "spec." + dependency.Name()}
	}
	return specOf(top, core, declared)
}

// specOf returns the root with the fields of a Go type and of a fields.yaml, nil for none, besides others.
func specOf(top map[string]*node, core reflect.Type, declared *File) *node {
	if core != nil {
		for name, typ := range Members(core) {
			top[name] = &node{path: "spec." + name, typ: typ}
		}
	}
	if declared != nil {
		for name, field := range declared.Spec.Properties {
			top[name] = nodeOf("spec."+name, &field)
		}
	}
	return &node{path: "spec", fields: top}
}

func nodeOf(path string, s *props) *node {
	if s.Ref != nil {
		typ, _ := Type(*s.Ref) // the parser has checked it
		return &node{path: path, typ: typ}
	}
	return &node{path: path, schema: s}
}

// member returns the place of a field. Declared is false if the field is known not to exist.
func (n *node) member(name string) (field *node, declared bool) {
	path := n.path + "." + name
	switch {
	case n.fields != nil:
		field = n.fields[name]
		return field, field != nil
	case n.schema != nil && n.schema.AdditionalProperties != nil:
		return nodeOf(n.path+".*", AdditionalProperties(n.schema)), true
	case n.schema != nil && n.schema.Properties != nil:
		if s := Property(n.schema, name); s != nil {
			return nodeOf(path, s), true
		}
		return nil, false
	case n.typ != nil:
		of := indirect(n.typ)
		if of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return &node{path: path, typ: elementOf(of, reflect.Map)}, true
		}
		typ := Members(of)[name]
		return &node{path: path, typ: typ}, typ != nil
	}
	return &node{path: path}, true
}

// names returns the names of the declared fields; none if any name is allowed.
func (n *node) names() []string {
	switch {
	case n.fields != nil:
		return sortedKeys(n.fields)
	case n.schema != nil:
		return Names(n.schema)
	case n.typ != nil:
		return sortedKeys(Members(n.typ))
	}
	return nil
}

// element returns the place of an entry of a list or a map.
func (n *node) element() *node {
	path := n.path + "[]"
	switch {
	case n.schema != nil && n.schema.Items != nil:
		return nodeOf(path, Items(n.schema))
	case n.schema != nil && n.schema.AdditionalProperties != nil:
		return nodeOf(n.path+".*", AdditionalProperties(n.schema))
	case n.typ != nil:
		return &node{path: path, typ: elementOf(indirect(n.typ), reflect.Slice, reflect.Map)}
	}
	return &node{path: path}
}

func indirect(typ reflect.Type) reflect.Type {
	if typ.Kind() == reflect.Pointer {
		return typ.Elem()
	}
	return typ
}

// elementOf returns the element type of a type of one of these kinds; nil for other kinds.
func elementOf(typ reflect.Type, sorts ...reflect.Kind) reflect.Type {
	if slices.Contains(sorts, typ.Kind()) {
		return typ.Elem()
	}
	return nil
}

// value is an abstract value in a template: a place among the values, or what the template makes of such values: a map
// by names, or a list by numbers. The object that templates are executed with is such a map, too. The zero value is
// unknown.
type value struct {
	at    *node
	parts map[string]value
}

// listOf returns a list of values.
func listOf(items []value) value {
	parts := map[string]value{}
	for i, item := range items {
		parts[strconv.Itoa(i)] = item
	}
	return value{parts: parts}
}

// key returns a string that is the same for equal values.
func (v value) key() string {
	switch {
	case v.at != nil:
		return v.at.path
	case v.parts == nil:
		return "-"
	}
	var out strings.Builder
	for _, name := range sortedKeys(v.parts) {
		fmt.Fprintf(&out, "%s: %s ", name, v.parts[name].key())
	}
	return "{" + out.String() + "}"
}

// element returns the value of an entry of a list or a map.
func (v value) element() value {
	if v.at != nil {
		return value{at: v.at.element()}
	}
	if len(v.parts) == 1 {
		return v.parts["0"] // the only one of a list
	}
	return value{}
}

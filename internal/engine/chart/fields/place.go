package fields

import (
	"encoding/json"
	"reflect"
	"slices"
)

// node is a place among the values of a chart, by its path in the spec, with its schema or Go type if known.
type node struct {
	path   string
	schema *props       // of fields.yaml
	typ    reflect.Type // of a Go type
	fields map[string]*node
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

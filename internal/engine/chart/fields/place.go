package fields

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Place is a location in the spec of a kind, with its schema or Go type if known. The zero value has neither: any value
// fits.
type Place struct {
	path   string
	schema *props           // of fields.yaml
	typ    reflect.Type     // of a Go type
	fields map[string]Place // of a spec: those of both, and others
}

// SpecOf returns the place of the spec of a kind. Declared are the fields that a chart declares; nil if there are none.
// Besides are names of fields of any type.
func SpecOf(kind schema.GroupVersionKind, declared *File, besides ...string) Place {
	core, typed := Core(kind)
	spec := Place{path: "spec", typ: core}
	if !typed && declared == nil {
		return spec
	}
	spec.fields = map[string]Place{}
	for _, name := range besides {
		spec.fields[name] = Place{path: "spec." + name}
	}
	if typed {
		for name, typ := range Members(core) {
			spec.fields[name] = Place{path: "spec." + name, typ: typ}
		}
	}
	if declared != nil {
		spec.schema = declared.Spec
		for name, field := range declared.Spec.Properties {
			spec.fields[name] = placeOf("spec."+name, &field)
		}
	}
	return spec
}

func placeOf(path string, s *props) Place {
	if s.Ref != nil {
		typ, _ := Type(*s.Ref) // the parser has checked it
		return Place{path: path, typ: typ}
	}
	return Place{path: path, schema: s}
}

// Path returns the path of the place, as in spec.ports[].name.
func (p Place) Path() string { return p.path }

// Field returns the place of a field. Known is false if there is no such field.
func (p Place) Field(name string) (field Place, known bool) {
	path := p.path + "." + name
	switch {
	case p.fields != nil:
		field, known = p.fields[name]
		return field, known
	case p.schema != nil && p.schema.AdditionalProperties != nil:
		return placeOf(p.path+".*", AdditionalProperties(p.schema)), true
	case p.schema != nil && p.schema.Properties != nil:
		if s := Property(p.schema, name); s != nil {
			return placeOf(path, s), true
		}
		return Place{}, false
	case p.typ != nil:
		of := indirect(p.typ)
		if of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return Place{path: path, typ: elementOf(of, reflect.Map)}, true
		}
		typ := Members(of)[name]
		return Place{path: path, typ: typ}, typ != nil
	}
	return Place{path: path}, true
}

// Element returns the place of an entry of a list or a map.
func (p Place) Element() Place {
	path := p.path + "[]"
	switch {
	case p.schema != nil && p.schema.Items != nil:
		return placeOf(path, Items(p.schema))
	case p.schema != nil && p.schema.AdditionalProperties != nil:
		return placeOf(p.path+".*", AdditionalProperties(p.schema))
	case p.typ != nil:
		return Place{path: path, typ: elementOf(indirect(p.typ), reflect.Slice, reflect.Map)}
	}
	return Place{path: path}
}

// names returns the names of the declared fields; none if any name is allowed.
func (p Place) names() []string {
	switch {
	case p.fields != nil:
		return sortedKeys(p.fields)
	case p.schema != nil:
		return Names(p.schema)
	case p.typ != nil:
		return sortedKeys(Members(p.typ))
	}
	return nil
}

// DidYouMean returns a question with the field that is most similar to a wrong name; empty if none is.
func (p Place) DidYouMean(wrong string) string {
	return DidYouMean(wrong, p.names())
}

// At returns the place at a path, as in spec.ports[0].name. It reports false if a field is unknown.
func (p Place) At(path string) (Place, bool) {
	for _, step := range strings.Split(path, ".")[1:] {
		name, rest, _ := strings.Cut(step, "[")
		field, known := p.Field(name)
		if !known {
			return Place{}, false
		}
		for ; rest != ""; _, rest, _ = strings.Cut(rest, "[") {
			field = field.Element()
		}
		p = field
	}
	return p, true
}

// Lacks returns the path of a required field that a value lacks; empty if it is complete. An incomplete value cannot
// create an object: it only adds to one that a spec has.
func (p Place) Lacks(value any) string {
	given, isMap := value.(map[string]any)
	if !isMap {
		return ""
	}
	for _, name := range p.required() {
		if _, there := given[name]; !there {
			return name
		}
	}
	for name, value := range given {
		field, _ := p.Field(name)
		if lacks := field.Lacks(value); lacks != "" {
			return name + "." + lacks
		}
	}
	return ""
}

// required returns the required fields of an object.
func (p Place) required() []string {
	switch {
	case p.schema != nil:
		return p.schema.Required
	case p.typ != nil && indirect(p.typ).Kind() == reflect.Struct:
		return requiredOf(indirect(p.typ))
	}
	return nil
}

// requiredOf returns the fields of a struct without omitempty, which controller-gen treats as required.
func requiredOf(of reflect.Type) []string {
	var names []string
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case strings.Contains(options, "inline") && indirect(field.Type).Kind() == reflect.Struct:
			names = append(names, requiredOf(indirect(field.Type))...)
		case field.IsExported() && name != "" && name != "-" && !strings.Contains(options, "omitempty"):
			names = append(names, name)
		}
	}
	return names
}

// elementOf returns the element type of a type of one of these kinds; nil for other kinds.
func elementOf(typ reflect.Type, sorts ...reflect.Kind) reflect.Type {
	if slices.Contains(sorts, typ.Kind()) {
		return typ.Elem()
	}
	return nil
}

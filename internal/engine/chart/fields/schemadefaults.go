package fields

import (
	"encoding/json"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// open resolves every reference to a schema that allows anything. References are checked by their Go types.
func open(string) (props, error) {
	anything := true
	return props{XPreserveUnknownFields: &anything}, nil
}

// Defaults returns the values of a chart for an empty spec: the defaults, nested in their objects, and an empty object
// or list for each field without one, so that templates need no check for nil. An object is empty if one of its
// required fields has no default.
func (f *File) Defaults() map[string]any { return defaults(f.Spec) }

func defaults(s *props) map[string]any {
	out := map[string]any{}
	for name, property := range s.Properties {
		if value := ByDefault(&property); value != nil {
			out[name] = value
		}
	}
	return out
}

// ByDefault returns the value of a field that a spec does not set; nil for none.
func ByDefault(s *apiextensionsv1.JSONSchemaProps) any {
	switch {
	case s.Default != nil:
		return Default(s)
	case s.Ref != nil:
		typ, _ := Type(*s.Ref) // the parser has checked it
		return emptyOf(typ)
	case s.Type == "array":
		return []any{}
	case s.Type != "object":
		return nil
	case Defaulted(s):
		return defaults(s)
	}
	return map[string]any{}
}

// Defaulted reports whether each required field of an object has a default.
func Defaulted(s *apiextensionsv1.JSONSchemaProps) bool {
	return !slices.ContainsFunc(s.Required, func(name string) bool { return s.Properties[name].Default == nil })
}

func emptyOf(typ reflect.Type) any {
	typ = indirect(typ)
	if reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil // a quantity or an int-or-string
	}
	switch typ.Kind() {
	case reflect.Slice:
		return []any{}
	case reflect.Struct, reflect.Map:
		return map[string]any{}
	}
	return nil
}

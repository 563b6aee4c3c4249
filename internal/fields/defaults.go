package fields

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	sigsjson "sigs.k8s.io/json"
)

// open resolves every reference to a schema that allows anything. References are checked by their Go types.
func open(string) (props, error) {
	anything := true
	return props{XPreserveUnknownFields: &anything}, nil
}

// checkDefault validates a default against its schema, and makes quantities canonical.
func (p *parser) checkDefault(s *Schema, at string) {
	if s.Ref != "" {
		typ, _ := Type(s.Ref) // checkRef reports its error
		text, _ := json.Marshal(s.Default)
		strict, err := sigsjson.UnmarshalStrict(text, reflect.New(typ).Interface())
		if err = errors.Join(append(strict, err)...); err != nil {
			p.report(s.LineOf("default"), "%s: the default does not fit %s: %v", at, s.Ref, err)
		}
		return
	}
	if s.IsQuantity() {
		canonical, err := Canonical(s.Default)
		if err != nil {
			p.report(s.LineOf("default"), "%s: the default does not fit: it is not a quantity, such as 500m or 1Gi", at)
		}
		s.Default = canonical
		return
	}
	schema, _ := s.Props(open) // open returns no error
	compiled, err := compile(exact(&schema))
	if err == nil {
		err = compiled.Validate(s.Default)
	}
	var refused *jsonschema.ValidationError
	switch {
	case errors.As(err, &refused):
		p.report(s.LineOf("default"), "%s: the default does not fit: %s", at, strings.Join(misfits(refused), "; "))
	case err != nil:
		p.report(s.LineOf("default"), "%s: the default cannot be checked: %v", at, err)
	}
}

func compile(schema map[string]any) (*jsonschema.Schema, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	const name = "file:///default.json"
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, document); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}

// misfits returns the messages of a validation error and its causes, sorted.
func misfits(err *jsonschema.ValidationError) []string {
	if len(err.Causes) == 0 {
		says := strings.TrimPrefix((&jsonschema.ValidationError{ErrorKind: err.ErrorKind}).Error(), "at '': ")
		if len(err.InstanceLocation) > 0 {
			says = strings.Join(err.InstanceLocation, ".") + ": " + says
		}
		return []string{says}
	}
	var list []string
	for _, cause := range err.Causes {
		list = append(list, misfits(cause)...)
	}
	slices.Sort(list)
	return list
}

// Defaults returns the values of a chart for an empty spec: the defaults, nested in their objects, and an empty object or list for each field
// without one, so that templates need no check for nil. An object is empty if one of its required fields has no default.
func (f *File) Defaults() map[string]any { return f.Spec.defaults() }

func (s *Schema) defaults() map[string]any {
	out := map[string]any{}
	for _, name := range s.Names() {
		if value := s.Properties[name].ByDefault(); value != nil {
			out[name] = value
		}
	}
	return out
}

// ByDefault returns the value of a field that a spec does not set; nil for none.
func (s *Schema) ByDefault() any {
	switch {
	case s.Default != nil:
		return s.Default
	case s.Ref != "":
		typ, _ := Type(s.Ref) // the parser has checked it
		return emptyOf(typ)
	case s.Type == "array":
		return []any{}
	case s.Type != "object":
		return nil
	case s.Complete():
		return s.defaults()
	}
	return map[string]any{}
}

// Complete reports whether each required field of an object has a default.
func (s *Schema) Complete() bool {
	return !slices.ContainsFunc(s.Required, func(name string) bool {
		child := s.Properties[name]
		return child.Default == nil
	})
}

func emptyOf(typ reflect.Type) any {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
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

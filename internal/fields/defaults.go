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

// open stands for what a reference names: anything. References are checked by their Go types.
func open(string) (props, error) {
	anything := true
	return props{XPreserveUnknownFields: &anything}, nil
}

// checkDefault holds a default to the schema that it stands in.
func (p *parser) checkDefault(s *Schema, at string) {
	if s.Ref != "" {
		typ, _ := Type(s.Ref) // checkRef did it
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
			p.report(s.LineOf("default"), "%s: the default does not fit: it is no quantity, such as 500m or 1Gi", at)
		}
		s.Default = canonical
		return
	}
	schema, _ := s.Props(open) // it resolves everything
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

// misfits are what a schema refuses, in its words.
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

// Defaults are what a chart's values hold where a spec says nothing: the defaults, in the objects that they belong to, and an empty object
// or list for each that has none, so that templates reach into it without a look whether it is there. An object that cannot do without a
// field that has no default is empty as a whole.
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

// ByDefault is what values hold for a field where a spec says nothing; nil if they hold nothing.
func (s *Schema) ByDefault() any {
	switch {
	case s.Default != nil:
		return s.Default
	case s.Ref != "":
		typ, _ := Type(s.Ref) // it was found when the file was parsed
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

// Complete reports whether an object has a default for each of the fields that it requires.
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
		return nil // a quantity, or a number or a text
	}
	switch typ.Kind() {
	case reflect.Slice:
		return []any{}
	case reflect.Struct, reflect.Map:
		return map[string]any{}
	}
	return nil
}

package fields

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Core returns the Go type of the spec of a kind, and whether it has one.
func Core(kind schema.GroupVersionKind) (reflect.Type, bool) {
	if kind == v1.GroupVersion.WithKind(v1.Kind) {
		return reflect.TypeFor[v1.AppServiceSpec](), true
	}
	return nil, false
}

// Type returns the Go type of the field that a reference names, as in AppService.spec.envs.
func Type(ref string) (reflect.Type, error) {
	steps := strings.Split(ref, ".")
	if len(steps) < 3 || steps[0] != v1.Kind || steps[1] != "spec" {
		return nil, fmt.Errorf("$ref %s is not of the form %s.spec.FIELD", ref, v1.Kind)
	}
	at := reflect.TypeFor[v1.AppServiceSpec]()
	for _, step := range steps[2:] {
		known := Members(at)
		if known[step] == nil {
			return nil, fmt.Errorf("$ref %s: there is no field %s%s", ref, step, DidYouMean(step, sortedKeys(known)))
		}
		at = known[step]
	}
	return at, nil
}

// Members returns the types of the fields of a struct by their names in JSON.
func Members(of reflect.Type) map[string]reflect.Type {
	found := map[string]reflect.Type{}
	if of = indirect(of); of.Kind() != reflect.Struct {
		return found
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && (field.Anonymous || strings.Contains(options, "inline")):
			maps.Copy(found, Members(field.Type))
		case name != "" && name != "-":
			found[name] = field.Type
		}
	}
	return found
}

// JSONType returns the JSON type of a Go type.
func JSONType(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Pointer:
		return JSONType(of.Elem())
	}
	return "integer"
}

func indirect(typ reflect.Type) reflect.Type {
	if typ.Kind() == reflect.Pointer {
		return typ.Elem()
	}
	return typ
}

package fields

import (
	"fmt"
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
		next, found := member(at, step)
		if !found {
			return nil, fmt.Errorf("$ref %s: there is no field %s%s", ref, step, DidYouMean(step, members(at)))
		}
		at = next
	}
	return at, nil
}

// member returns the type of a field of a struct by its name in JSON.
func member(of reflect.Type, name string) (reflect.Type, bool) {
	var found reflect.Type
	eachMember(of, func(at string, typ reflect.Type) {
		if at == name {
			found = typ
		}
	})
	return found, found != nil
}

func members(of reflect.Type) []string {
	var names []string
	eachMember(of, func(name string, _ reflect.Type) { names = append(names, name) })
	return names
}

func eachMember(of reflect.Type, visit func(name string, typ reflect.Type)) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && (field.Anonymous || strings.Contains(options, "inline")):
			eachMember(field.Type, visit)
		case name != "" && name != "-":
			visit(name, field.Type)
		}
	}
}

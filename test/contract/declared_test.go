//go:build cluster

package contract

import (
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/test/specs"
)

// declaredByChart lists the fields that the chart adds, in the same form.
func declaredByChart(prefix string, s *apiextensionsv1.JSONSchemaProps) []string {
	var paths []string
	for _, name := range fields.Names(s) {
		path, field := specs.Join(prefix, name), fields.Property(s, name)
		if field.Ref != nil {
			typ, _ := fields.Type(*field.Ref) // it was found when the file was parsed
			paths = append(paths, ofType(path, typ)...)
			continue
		}
		if field.Items != nil && field.Items.Schema.Properties != nil {
			path, field = path+"[]", field.Items.Schema
		}
		if field.Properties != nil {
			paths = append(paths, declaredByChart(path, field)...)
		} else {
			paths = append(paths, path)
		}
	}
	return paths
}

// declared lists the same fields, as the Go types declare them.
func declared(prefix string, typ reflect.Type) []string {
	var paths []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name == "" { // the fields of a type that is embedded stand beside the others
			paths = append(paths, declared(prefix, typ.Field(i).Type)...)
			continue
		}
		paths = append(paths, ofType(specs.Join(prefix, name), typ.Field(i).Type)...)
	}
	return paths
}

// ofType lists the fields at a path whose type is this.
func ofType(path string, of reflect.Type) []string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() == reflect.Slice && isOurs(of.Elem()) {
		path, of = path+"[]", of.Elem()
	}
	if isOurs(of) {
		return declared(path, of)
	}
	return []string{path}
}

func isOurs(typ reflect.Type) bool {
	return typ.Kind() == reflect.Struct && typ.PkgPath() == reflect.TypeFor[v1.AppService]().PkgPath()
}

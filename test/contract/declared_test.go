package contract

import (
	"reflect"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/specs"
)

// declared lists the same fields, as the Go types declare them.
func declared(prefix string, typ reflect.Type) []string {
	var paths []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		path, of := specs.Join(prefix, name), typ.Field(i).Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() == reflect.Slice {
			if isOurs(of.Elem()) {
				path, of = path+"[]", of.Elem()
			}
		}
		if isOurs(of) {
			paths = append(paths, declared(path, of)...)
		} else {
			paths = append(paths, path)
		}
	}
	return paths
}

func isOurs(typ reflect.Type) bool {
	return typ.Kind() == reflect.Struct && typ.PkgPath() == reflect.TypeFor[v1.AppService]().PkgPath()
}

package contract

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// node is one node of the CRD's schema.
type node = apiextensionsv1.JSONSchemaProps

// field is a field of the spec that is ours: a leaf of our types, or a type of Kubernetes' as a whole.
type field struct {
	path     string
	schema   node
	required bool
}

// readSchema reads the schema that a CRD has for its first version, in both forms that validation needs.
func readSchema(file string) (*node, *apiextensions.JSONSchemaProps, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return nil, nil, err
	}
	if len(crd.Spec.Versions) == 0 || crd.Spec.Versions[0].Schema == nil {
		return nil, nil, fmt.Errorf("%s has no schema", file)
	}
	external := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	internal := &apiextensions.JSONSchemaProps{}
	err = apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(external, internal, nil)
	return external, internal, err
}

// ours tells our types from Kubernetes': the CRD keeps descriptions below ours only.
func ours(schema node) bool {
	for _, property := range schema.Properties {
		if property.Description != "" {
			return true
		}
	}
	return false
}

// fieldsOf lists the fields below a node, in the order of their paths.
func fieldsOf(prefix string, schema node) []field {
	var fields []field
	for _, name := range sortedKeys(schema.Properties) {
		property, path := schema.Properties[name], join(prefix, name)
		switch {
		case ours(property):
			fields = append(fields, fieldsOf(path, property)...)
		case property.Items != nil && property.Items.Schema != nil && ours(*property.Items.Schema):
			fields = append(fields, fieldsOf(path+"[]", *property.Items.Schema)...)
		default:
			fields = append(fields, field{path, property, slices.Contains(schema.Required, name)})
		}
	}
	return fields
}

// declared lists the same fields, as the Go types declare them.
func declared(prefix string, typ reflect.Type) []string {
	var paths []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		path, of := join(prefix, name), typ.Field(i).Type
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

var errNoNode = errors.New("the CRD has no such field")

// at follows a path such as ports[].name from a node.
func at(schema node, path string) (node, error) {
	for _, segment := range strings.Split(path, ".") {
		name, isList := strings.CutSuffix(segment, "[]")
		next, found := schema.Properties[name]
		if !found || isList && (next.Items == nil || next.Items.Schema == nil) {
			return node{}, fmt.Errorf("%s: %w", path, errNoNode)
		}
		if schema = next; isList {
			schema = *next.Items.Schema
		}
	}
	return schema, nil
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// within tells whether a path is a field or lies below it.
func within(path, ancestor string) bool {
	rest, found := strings.CutPrefix(path, ancestor)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

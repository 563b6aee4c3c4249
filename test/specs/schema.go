package specs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Node is one node of the CRD's schema.
type Node = apiextensionsv1.JSONSchemaProps

// Field is a field of the spec that is ours: a leaf of our types, or a type of Kubernetes' as a whole.
type Field struct {
	Path     string
	Schema   Node
	Required bool
}

// ReadSchema reads the schema that a CRD has for its first version, in both forms that validation needs.
func ReadSchema(file string) (*Node, *apiextensions.JSONSchemaProps, error) {
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

// Ours distinguishes our types from Kubernetes': the CRD keeps descriptions below ours only.
func Ours(schema Node) bool {
	for _, property := range schema.Properties {
		if property.Description != "" {
			return true
		}
	}
	return false
}

// FieldsOf lists the fields below a node, in the order of their paths.
func FieldsOf(prefix string, schema Node) []Field {
	var fields []Field
	for _, name := range SortedKeys(schema.Properties) {
		property, path := schema.Properties[name], Join(prefix, name)
		switch {
		case Ours(property):
			fields = append(fields, FieldsOf(path, property)...)
		case property.Items != nil && property.Items.Schema != nil && Ours(*property.Items.Schema):
			fields = append(fields, FieldsOf(path+"[]", *property.Items.Schema)...)
		default:
			fields = append(fields, Field{path, property, slices.Contains(schema.Required, name)})
		}
	}
	return fields
}

// ErrNoNode says that a path names no field.
var ErrNoNode = errors.New("the CRD has no such field")

// At follows a path such as ports[].name from a node.
func At(schema Node, path string) (Node, error) {
	for _, segment := range strings.Split(path, ".") {
		name, isList := strings.CutSuffix(segment, "[]")
		next, found := schema.Properties[name]
		if !found || isList && (next.Items == nil || next.Items.Schema == nil) {
			return Node{}, fmt.Errorf("%s: %w", path, ErrNoNode)
		}
		if schema = next; isList {
			schema = *next.Items.Schema
		}
	}
	return schema, nil
}

// Join appends a name to a path.
func Join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// Within reports whether a path is a field or lies below it.
func Within(path, ancestor string) bool {
	rest, found := strings.CutPrefix(path, ancestor)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// SortedKeys are the keys of a map, sorted.
func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

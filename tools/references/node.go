package references

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// node is a field of a spec, as far as references go.
type node struct {
	name   string
	fields []*node // of an object, sorted by name
	each   *node   // of a list, or of a map: what its entries are
	isMap  bool
	typ    string // that of the schema: string, boolean, array, object and so on
	// open fields have no schema in the CRD: the API server checks nothing of what they hold.
	open bool
}

// ofSchema makes a node of a schema.
func ofSchema(name string, schema *apiextensionsv1.JSONSchemaProps) *node {
	n := &node{name: name, typ: schema.Type}
	n.open = schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
	switch {
	case schema.Items != nil && schema.Items.Schema != nil:
		n.each = ofSchema("", schema.Items.Schema)
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		n.each, n.isMap = ofSchema("", schema.AdditionalProperties.Schema), true
	}
	for name := range schema.Properties {
		child := schema.Properties[name]
		n.fields = append(n.fields, ofSchema(name, &child))
	}
	return n.sorted()
}

func (n *node) sorted() *node {
	slices.SortFunc(n.fields, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	return n
}

// fieldsOf are the fields of a type of Kubernetes', by the names that it has in JSON.
func fieldsOf(t reflect.Type) []*node {
	var list []*node
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			list = append(list, fieldsOf(deref(field.Type))...)
		case t == podSpec && field.Name == "EphemeralContainers": // no template of pods may have them
		case name != "" && name != "-":
			list = append(list, ofType(name, field.Type))
		}
	}
	return list
}

var podSpec = reflect.TypeFor[corev1.PodSpec]()

func ofType(name string, t reflect.Type) *node {
	n := &node{name: name, open: true}
	switch t = deref(t); {
	case t.Kind() == reflect.String:
		n.typ = "string"
	case t.Kind() == reflect.Bool:
		n.typ = "boolean"
	case t.Kind() == reflect.Slice:
		n.typ, n.each = "array", ofType("", t.Elem())
	case t.Kind() == reflect.Map:
		n.typ, n.each, n.isMap = "object", ofType("", t.Elem()), true
	case t.Kind() == reflect.Struct && strings.HasPrefix(t.PkgPath(), "k8s.io/api/"):
		n.typ, n.fields = "object", fieldsOf(t)
	}
	return n.sorted()
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

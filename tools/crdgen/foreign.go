package main

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// props is one node of a schema.
type props = apiextensionsv1.JSONSchemaProps

// visit is called on a schema and then on all schemas in it.
type visit func(schema *props)

// Visit implements crd.SchemaVisitor.
func (v visit) Visit(schema *props) crd.SchemaVisitor {
	if schema != nil {
		v(schema)
	}
	return v
}

// foreign marks a node that stems from a foreign type, from cut to finish, and keeps its default. External
// documentation is a place for it that flattening preserves.
const foreign = "foreign"

// cut removes what a CRD does not need from a node of a foreign type.
func cut(schema *props) {
	schema.Title, schema.Description, schema.Example = "", "", nil
	schema.ExternalDocs = &apiextensionsv1.ExternalDocumentation{Description: foreign}
	if schema.Default != nil {
		schema.ExternalDocs.URL = string(schema.Default.Raw)
		schema.Default = nil
	}
}

// quantityEnd is how the pattern ends that controller-tools knows for quantities: with an exponent of any length.
const quantityEnd = `([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

// finish repairs the lists and the quantities of a flattened schema and removes the marks.
func finish(root *props) error {
	var failed error
	crd.EditSchema(root, visit(func(schema *props) {
		if schema.XIntOrString && strings.HasSuffix(schema.Pattern, quantityEnd) {
			schema.Pattern = fields.QuantityPattern
		}
		if isForeign(schema) && slices.Contains(schema.XListMapKeys, "containerPort") {
			boundPorts(schema)
		}
		if schema.XListType != nil && *schema.XListType == "map" {
			if err := keepKeys(schema); err != nil && failed == nil {
				failed = err
			}
		}
		if isForeign(schema) {
			schema.ExternalDocs = nil
		}
	}))
	return failed
}

// longestKey bounds the foreign keys of our lists, so that rules can compare them: what a rule may cost depends on the
// length of the strings in it. Kubernetes takes no name of this length; paths may be longer in theory.
const longestKey = 1024

// boundPorts bounds the ports of a container as those of the spec are, so that rules can look for one by its name. Kubernetes
// takes no longer name.
func boundPorts(list *props) {
	most, longest := int64(32), int64(15)
	list.MaxItems = &most
	name := list.Items.Schema.Properties["name"]
	name.MaxLength = &longest
	list.Items.Schema.Properties["name"] = name
}

// keepKeys ensures that the API server accepts a list of type map: each of its keys must be required or have a default. A key gets back the default
// that cut removed, in this list only. Foreign lists that lack even that become atomic.
func keepKeys(list *props) error {
	for _, key := range list.XListMapKeys {
		item := list.Items.Schema
		property, found := item.Properties[key]
		if isForeign(&property) && !isForeign(list) && property.Type == "string" && property.Enum == nil && property.MaxLength == nil {
			length := int64(longestKey)
			property.MaxLength = &length
			item.Properties[key] = property
		}
		switch {
		case property.Default != nil || found && slices.Contains(item.Required, key):
		case isForeign(&property) && property.ExternalDocs.URL != "":
			property.Default = &apiextensionsv1.JSON{Raw: []byte(property.ExternalDocs.URL)}
			item.Properties[key] = property
		case isForeign(list):
			atomic := "atomic"
			list.XListType, list.XListMapKeys = &atomic, nil
			return nil
		default:
			return fmt.Errorf("listMapKey %s of a list of ours must be required or have a default", key)
		}
	}
	return nil
}

func isForeign(schema *props) bool {
	return schema.ExternalDocs != nil && schema.ExternalDocs.Description == foreign
}

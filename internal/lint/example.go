package lint

import (
	"encoding/json"
	"slices"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Example is the smallest resource that a chart's values.schema.json lets through, as far as that can be seen: what is required, and nothing
// else.
func Example(c *helmchart.Chart, kind schema.GroupVersionKind) Case {
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	resource.SetGroupVersionKind(kind)
	resource.SetName("example")
	resource.SetNamespace("default")
	resource.SetUID("00000000-0000-4000-8000-000000000000")
	var document schemaOfValues
	_ = json.Unmarshal(c.Schema, &document) // what is no schema, Helm complains of
	spec, _ := document.example().(map[string]any)
	if kind == v1.GroupVersion.WithKind(v1.Kind) {
		spec["image"] = "example" // its CRD requires it, the chart has no default that would do
	}
	resource.Object["spec"] = spec
	return Case{"example", resource}
}

// schemaOfValues is what of a schema an example is made of.
type schemaOfValues struct {
	Type       any                       `json:"type"`
	Required   []string                  `json:"required"`
	Properties map[string]schemaOfValues `json:"properties"`
	Items      *schemaOfValues           `json:"items"`
	MinItems   int                       `json:"minItems"`
	Minimum    int64                     `json:"minimum"`
	Default    any                       `json:"default"`
	Enum       []any                     `json:"enum"`
}

func (s schemaOfValues) example() any {
	switch {
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	kind := s.Type
	if several, is := kind.([]any); is && len(several) > 0 {
		kind = several[slices.IndexFunc(several, func(each any) bool { return each != "null" })]
	}
	switch kind {
	case "string":
		return "example"
	case "integer", "number":
		return max(1, s.Minimum)
	case "boolean":
		return true
	case "array":
		list := []any{}
		for range s.MinItems {
			list = append(list, s.Items.example())
		}
		return list
	}
	fields := map[string]any{}
	for _, name := range s.Required {
		fields[name] = s.Properties[name].example()
	}
	return fields
}

package crd

import "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

// Example returns a value for a top-level field of the resource, with only the required fields.
func (d *Definition) Example(name string) any {
	property := d.structural.Properties[name]
	return example(&property)
}

func example(s *schema.Structural) any {
	var rules schema.ValueValidation
	if s.ValueValidation != nil {
		rules = *s.ValueValidation
	}
	switch {
	case s.Default.Object != nil:
		return s.Default.Object
	case len(rules.Enum) > 0:
		return rules.Enum[0].Object
	case s.XIntOrString:
		return int64(1)
	}
	switch s.Type {
	case "string":
		return "example"
	case "integer", "number":
		least := int64(1)
		if rules.Minimum != nil {
			least = max(least, int64(*rules.Minimum))
		}
		return least
	case "boolean":
		return true
	case "array":
		list := []any{}
		if s.Items != nil && rules.MinItems != nil {
			for range *rules.MinItems {
				list = append(list, example(s.Items))
			}
		}
		return list
	}
	fields := map[string]any{}
	for _, name := range rules.Required {
		property := s.Properties[name]
		fields[name] = example(&property)
	}
	return fields
}

package fields

import (
	"reflect"
	"slices"
)

// scalars sets the type and the bounds of a node.
func scalars(out map[string]any, of *props) {
	set(out, "type", of.Type, of.Type != "")
	set(out, "type", []string{"integer", "string"}, of.XIntOrString)
	if len(of.Enum) > 0 {
		enum := make([]any, 0, len(of.Enum))
		for _, value := range of.Enum {
			enum = append(enum, decoded(value))
		}
		out["enum"] = enum
	}
	bound := func(key, exclusiveKey string, value *float64, exclusive bool) {
		if exclusive {
			key = exclusiveKey
		}
		if value != nil {
			out[key] = *value
		}
	}
	bound("minimum", "exclusiveMinimum", of.Minimum, of.ExclusiveMinimum)
	bound("maximum", "exclusiveMaximum", of.Maximum, of.ExclusiveMaximum)
	bound("multipleOf", "", of.MultipleOf, false)
	for key, value := range map[string]*int64{
		"minLength": of.MinLength, "maxLength": of.MaxLength, "minItems": of.MinItems, "maxItems": of.MaxItems,
		"minProperties": of.MinProperties, "maxProperties": of.MaxProperties,
	} {
		if value != nil {
			out[key] = *value
		}
	}
}

// longestWord is the largest maxLength, in characters, that a values.schema.json keeps: larger ones only bound the cost
// of rules.
const longestWord = 16

// Relaxed converts a schema of a CRD to one for values.schema.json, which is small since every render validates it. The
// API server has validated the spec; only checks with clear messages are kept. Omitted are patterns, a maxLength above
// longestWord, the contents of Kubernetes types, and required fields of objects for which the chart may have an empty
// default. The default itself always validates.
func Relaxed(of *props, byDefault any) map[string]any { return relaxed(of, byDefault, false) }

// relaxed is like Relaxed; entry is set for entries of lists and maps and for their fields, which have no defaults.
func relaxed(of *props, byDefault any, entry bool) map[string]any {
	out := map[string]any{}
	scalars(out, of)
	if of.MaxLength != nil && *of.MaxLength > longestWord {
		delete(out, "maxLength")
	}
	admit(out, byDefault)
	switch {
	case described(of):
		given, _ := byDefault.(map[string]any)
		properties := map[string]any{}
		for name, property := range of.Properties {
			value, stands := given[name]
			schema := relaxed(&property, value, entry)
			if stands && value == nil {
				orNull(schema)
			}
			properties[name] = schema
		}
		out["properties"] = properties
		out["additionalProperties"] = false
		set(out, "required", of.Required, entry && len(of.Required) > 0)
	case entry && len(of.Required) > 0:
		out["required"] = of.Required
		set(out, "properties", notEmpty(of), true)
	}
	if child := AdditionalProperties(of); child != nil {
		out["additionalProperties"] = relaxed(child, nil, true)
	}
	if child := Items(of); child != nil {
		out["items"] = relaxed(child, nil, true)
	}
	return out
}

// notEmpty returns schemas for the required strings of an entry of a Kubernetes type. They must not be empty, since a
// decoded and encoded object has empty strings for missing ones.
func notEmpty(of *props) map[string]any {
	texts := map[string]any{}
	for _, name := range of.Required {
		if of.Properties[name].Type == "string" {
			texts[name] = map[string]any{"type": "string", "minLength": 1}
		}
	}
	return texts
}

// admit relaxes the bounds that a default violates.
func admit(out map[string]any, byDefault any) {
	if byDefault == nil {
		return
	}
	if enum, bounded := out["enum"].([]any); bounded &&
		!slices.ContainsFunc(enum, func(value any) bool { return reflect.DeepEqual(value, byDefault) }) {
		out["enum"] = append([]any{byDefault}, enum...)
	}
	size := func(key string, length int) {
		if least, bounded := out[key].(int64); bounded && int64(length) < least {
			delete(out, key)
		}
	}
	switch value := byDefault.(type) {
	case string:
		size("minLength", len(value))
	case []any:
		size("minItems", len(value))
	case map[string]any:
		size("minProperties", len(value))
	case int64:
		lower(out, float64(value))
	case float64:
		lower(out, value)
	}
}

// orNull allows null, for fields with a default of null: an empty object in them has a meaning.
func orNull(out map[string]any) {
	if name, typed := out["type"].(string); typed {
		out["type"] = []any{name, "null"}
	}
}

func lower(out map[string]any, value float64) {
	if least, bounded := out["minimum"].(float64); bounded && value < least {
		out["minimum"] = value
	}
}

// described reports whether any property has a description. In our CRDs, those of Kubernetes types have none.
func described(of *props) bool {
	for _, property := range of.Properties {
		if property.Description != "" {
			return true
		}
	}
	return false
}

func set(out map[string]any, key string, value any, present bool) {
	if present {
		out[key] = value
	}
}

package specs

import (
	"fmt"
	"regexp"
	"strings"
)

// texts are strings that most patterns find two of.
var texts = [...]string{"a", "b", "/a", "/b", "10s", "20s", "1Gi", "2Gi", "a.example.com", "b.example.com"}

// Generate finds values that fit a schema: all of an enum, else two.
func Generate(schema Node) ([]any, error) {
	var values []any
	switch {
	case len(schema.Enum) > 0:
		for _, value := range schema.Enum {
			values = append(values, strings.Trim(string(value.Raw), `"`))
		}
	case schema.Type == "boolean":
		values = []any{true, false}
	case schema.Type == "integer":
		first := int64(3)
		if schema.Minimum != nil {
			first = max(first, int64(*schema.Minimum))
		}
		if schema.Maximum != nil {
			first = min(first, int64(*schema.Maximum)-1)
		}
		values = []any{first, first + 1}
	case schema.XIntOrString && schema.Pattern == "":
		values = []any{int64(3), "40%"}
	case schema.Type == "string" || schema.XIntOrString:
		return fitting(schema)
	case schema.Type == "array" && schema.Items != nil && schema.Items.Schema != nil:
		return wrap(*schema.Items.Schema, func(value any) any { return []any{value} })
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		return wrap(*schema.AdditionalProperties.Schema, func(value any) any { return map[string]any{"key": value} })
	default:
		return nil, fmt.Errorf("it is a type of Kubernetes'")
	}
	return values, nil
}

func wrap(schema Node, as func(any) any) ([]any, error) {
	values, err := Generate(schema)
	for i := range values {
		values[i] = as(values[i])
	}
	return values, err
}

func fitting(schema Node) ([]any, error) {
	pattern, err := regexp.Compile(schema.Pattern)
	if err != nil {
		return nil, err
	}
	var values []any
	for _, text := range texts {
		length := int64(len(text))
		if !pattern.MatchString(text) || schema.MinLength != nil && length < *schema.MinLength || schema.MaxLength != nil && length > *schema.MaxLength {
			continue
		}
		if values = append(values, text); len(values) == 2 {
			return values, nil
		}
	}
	return nil, fmt.Errorf("its pattern %s is a special one", schema.Pattern)
}

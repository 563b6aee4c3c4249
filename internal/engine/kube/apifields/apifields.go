// Package apifields knows which fields the objects of a kind have, as an API server describes its kinds: in OpenAPI v3.
// A field that a CRD does not have yet is refused by server-side apply, or pruned.
package apifields

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fields are the fields of a kind, or of one of its fields. Nil stands for any.
type Fields struct {
	named  map[string]*Fields
	items  *Fields // of a list
	values *Fields // of a map
}

// schema is what counts of a schema of OpenAPI v3.
type schema struct {
	Kinds      []struct{ Kind string } `json:"x-kubernetes-group-version-kind"`
	Properties map[string]*schema      `json:"properties"`
	Items      *schema                 `json:"items"`
	Values     json.RawMessage         `json:"additionalProperties"` // a schema, or a bool
	Ref        string                  `json:"$ref"`
	AllOf      []schema                `json:"allOf"`
	Preserve   bool                    `json:"x-kubernetes-preserve-unknown-fields"`
}

// Parse reads the description of the kinds of a group and version, by their names.
func Parse(document []byte) (map[string]*Fields, error) {
	var read struct {
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &read); err != nil {
		return nil, fmt.Errorf("cannot read the description of an API: %w", err)
	}
	kinds := map[string]*Fields{}
	for _, described := range read.Components.Schemas {
		if len(described.Kinds) == 1 { // a list has several where it is shared
			kinds[described.Kinds[0].Kind] = described.fields()
		}
	}
	return kinds, nil
}

// fields returns the fields that a schema names; nil if it lets any pass, or refers to another one.
func (s *schema) fields() *Fields {
	switch {
	case s == nil, s.Preserve, s.Ref != "", len(s.AllOf) > 0:
		return nil
	case s.Items != nil:
		return &Fields{items: s.Items.fields()}
	case len(s.Properties) > 0:
		out := &Fields{named: make(map[string]*Fields, len(s.Properties))}
		for name, property := range s.Properties {
			out.named[name] = property.fields()
		}
		return out
	}
	var values schema
	if json.Unmarshal(s.Values, &values) != nil { // none, or any
		return nil
	}
	return &Fields{values: values.fields()}
}

// Unknown returns the path of the first field of a value that there is not, such as spec.rules[0].retry; empty if there
// is none.
func (f *Fields) Unknown(value any) string {
	return strings.TrimPrefix(f.unknown(value), ".")
}

func (f *Fields) unknown(value any) string {
	if f == nil {
		return ""
	}
	switch value := value.(type) {
	case map[string]any:
		return f.unknownOf(value)
	case []any:
		for i, item := range value {
			if found := f.items.unknown(item); found != "" {
				return fmt.Sprintf("[%d]%s", i, found)
			}
		}
	}
	return ""
}

func (f *Fields) unknownOf(entries map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		below := f.values
		if f.named != nil {
			known := false
			if below, known = f.named[name]; !known {
				return "." + name
			}
		}
		if found := below.unknown(entries[name]); found != "" {
			return "." + name + found
		}
	}
	return ""
}

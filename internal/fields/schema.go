package fields

import (
	"encoding/json"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Schema is one node of a schema in the file, with the field names of OpenAPI v3.
type Schema struct {
	// Line is its first line, from 1.
	Line int
	// Ref names a field whose schema is used, as in AppService.spec.envs; a title, description or default next to it wins.
	Ref string

	Title, Description, Type, Format, Pattern string
	Properties                                map[string]*Schema
	Items, AdditionalProperties               *Schema
	Required                                  []string
	Enum                                      []any
	Default                                   any // nil for none
	Minimum, Maximum, MultipleOf              *float64
	ExclusiveMinimum, ExclusiveMaximum        bool
	MinLength, MaxLength, MinItems, MaxItems  *int64
	MinProperties, MaxProperties              *int64
	IntOrString, PreserveUnknown              bool
	ListType, MapType                         string
	ListMapKeys                               []string
	Rules                                     []Rule

	lines map[string]int // of its keys
}

// Rule is a CEL validation rule.
type Rule struct {
	Rule              string `json:"rule"`
	Message           string `json:"message,omitempty"`
	MessageExpression string `json:"messageExpression,omitempty"`
	FieldPath         string `json:"fieldPath,omitempty"`
	Reason            string `json:"reason,omitempty"`

	line int
}

// quantity is the format of quantities, such as 500m or 1Gi.
const quantity = "quantity"

// QuantityPattern is the pattern of quantities in a CRD: that of Kubernetes, with exponents of at most two digits. The API server also evaluates
// rules on values that do not match their pattern: a rule that compares quantities must skip those with exponents.
const QuantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`

// IsQuantity reports whether the value is a quantity.
func (s *Schema) IsQuantity() bool { return s.IntOrString && s.Format == quantity }

// LineOf returns the line of a key; that of the schema if it has no such key.
func (s *Schema) LineOf(key string) int {
	if line, found := s.lines[key]; found {
		return line
	}
	return s.Line
}

// LineOfRule returns the line of the rule at an index; that of the schema if there is no such rule.
func (s *Schema) LineOfRule(index int) int {
	if index >= 0 && index < len(s.Rules) {
		return s.Rules[index].line
	}
	return s.Line
}

// Names returns the names of the properties, sorted.
func (s *Schema) Names() []string { return slices.Sorted(maps.Keys(s.Properties)) }

// Props returns the schema for a CRD. Resolve returns the schema of a reference; its errors are returned.
func (s *Schema) Props(resolve func(ref string) (apiextensionsv1.JSONSchemaProps, error)) (apiextensionsv1.JSONSchemaProps, error) {
	out := apiextensionsv1.JSONSchemaProps{}
	if s.Ref != "" {
		var err error
		if out, err = resolve(s.Ref); err != nil {
			return out, err
		}
	} else {
		s.scalars(&out)
	}
	for _, rule := range s.Rules {
		out.XValidations = append(out.XValidations, rule.validation())
	}
	if s.Title != "" {
		out.Title = s.Title
	}
	if s.Description != "" {
		out.Description = s.Description
	}
	if s.Default != nil {
		out.Default = asJSON(s.Default)
	}
	nested := func(child *Schema) (*apiextensionsv1.JSONSchemaProps, error) {
		props, err := child.Props(resolve)
		return &props, err
	}
	for _, name := range s.Names() {
		child, err := nested(s.Properties[name])
		if err != nil {
			return out, err
		}
		if out.Properties == nil {
			out.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		out.Properties[name] = *child
	}
	if s.Items != nil {
		child, err := nested(s.Items)
		if err != nil {
			return out, err
		}
		out.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: child}
	}
	if s.AdditionalProperties != nil {
		child, err := nested(s.AdditionalProperties)
		if err != nil {
			return out, err
		}
		out.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: child}
	}
	return out, nil
}

// scalars sets all keys except nested schemas and those that may stand next to a reference.
func (s *Schema) scalars(out *apiextensionsv1.JSONSchemaProps) {
	out.Type, out.Format, out.Pattern = s.Type, s.Format, s.Pattern
	out.Required = slices.Clone(s.Required)
	out.Minimum, out.Maximum, out.MultipleOf = s.Minimum, s.Maximum, s.MultipleOf
	out.ExclusiveMinimum, out.ExclusiveMaximum = s.ExclusiveMinimum, s.ExclusiveMaximum
	out.MinLength, out.MaxLength, out.MinItems, out.MaxItems = s.MinLength, s.MaxLength, s.MinItems, s.MaxItems
	out.MinProperties, out.MaxProperties = s.MinProperties, s.MaxProperties
	out.XIntOrString, out.XListMapKeys = s.IntOrString, slices.Clone(s.ListMapKeys)
	if s.IntOrString {
		out.AnyOf = []apiextensionsv1.JSONSchemaProps{{Type: "integer"}, {Type: "string"}}
	}
	if s.IsQuantity() {
		out.Format, out.Pattern = "", QuantityPattern
	}
	if s.PreserveUnknown {
		out.XPreserveUnknownFields = &s.PreserveUnknown
	}
	if s.ListType != "" {
		out.XListType = &s.ListType
	}
	if s.MapType != "" {
		out.XMapType = &s.MapType
	}
	for _, value := range s.Enum {
		out.Enum = append(out.Enum, *asJSON(value))
	}
}

func (r Rule) validation() apiextensionsv1.ValidationRule {
	validation := apiextensionsv1.ValidationRule{
		Rule: r.Rule, Message: r.Message, MessageExpression: r.MessageExpression, FieldPath: r.FieldPath,
	}
	if r.Reason != "" {
		reason := apiextensionsv1.FieldValueErrorReason(r.Reason)
		validation.Reason = &reason
	}
	return validation
}

func asJSON(value any) *apiextensionsv1.JSON {
	raw, _ := json.Marshal(value) // it was decoded from YAML
	return &apiextensionsv1.JSON{Raw: raw}
}

package fields

import (
	"cmp"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// props is a schema. In a file, $ref names a field whose schema is used, as in AppService.spec.envs; a title,
// description or default beside it wins. A quantity is x-kubernetes-int-or-string with the format quantity.
type props = apiextensionsv1.JSONSchemaProps

// quantity is the format of quantities, such as 500m or 1Gi.
const quantity = "quantity"

// QuantityPattern is the pattern of quantities in a CRD: that of Kubernetes, with exponents of at most two digits. The
// API server also evaluates rules on values that do not match their pattern: a rule that compares quantities must skip
// those with exponents.
const QuantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`

// IsQuantity reports whether a value with this schema is a quantity.
func IsQuantity(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.XIntOrString && s.Format == quantity
}

// Description returns the description of a field, or what it refers to if it has none.
func Description(s *apiextensionsv1.JSONSchemaProps) string {
	if s.Description == "" && s.Ref != nil {
		return "As " + *s.Ref + "."
	}
	return s.Description
}

// Names returns the names of the properties, sorted.
func Names(s *apiextensionsv1.JSONSchemaProps) []string { return sortedKeys(s.Properties) }

// Property returns the schema of a property; nil if there is none.
func Property(s *apiextensionsv1.JSONSchemaProps, name string) *apiextensionsv1.JSONSchemaProps {
	property, there := s.Properties[name]
	if !there {
		return nil
	}
	return &property
}

// Items returns the schema of the entries of a list; nil if there is none.
func Items(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// AdditionalProperties returns the schema of the values of a map; nil if there is none.
func AdditionalProperties(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

// Default returns the default of a schema; nil if there is none.
func Default(s *apiextensionsv1.JSONSchemaProps) any {
	if s.Default == nil {
		return nil
	}
	return decoded(*s.Default)
}

func decoded(value apiextensionsv1.JSON) any {
	var out any
	_ = utiljson.Unmarshal(value.Raw, &out) // it is valid JSON
	return out
}

// Resolved returns the schema for a CRD. Resolve returns the schema of a reference; its errors are returned.
func Resolved(
	s *apiextensionsv1.JSONSchemaProps, resolve func(ref string) (apiextensionsv1.JSONSchemaProps, error),
) (apiextensionsv1.JSONSchemaProps, error) {
	var failed error
	out := s.DeepCopy()
	edit(out, func(s *props) {
		if s.Ref != nil {
			of, err := resolve(*s.Ref)
			failed = cmp.Or(failed, err)
			of.Title, of.Description = cmp.Or(s.Title, of.Title), cmp.Or(s.Description, of.Description)
			of.Default, of.XValidations = cmp.Or(s.Default, of.Default), append(of.XValidations, s.XValidations...)
			*s = of
			return
		}
		if IsQuantity(s) {
			s.Format, s.Pattern = "", QuantityPattern
		}
		if s.XIntOrString {
			s.AnyOf = []props{{Type: "integer"}, {Type: "string"}}
		}
	})
	return *out, failed
}

// edit calls change for a schema and all schemas in it.
func edit(s *props, change func(s *props)) {
	change(s)
	for name, property := range s.Properties {
		edit(&property, change)
		s.Properties[name] = property
	}
	for _, child := range []*props{Items(s), AdditionalProperties(s)} {
		if child != nil {
			edit(child, change)
		}
	}
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

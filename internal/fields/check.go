package fields

import (
	"regexp"
	"slices"
	"strings"
)

// keysOf are the keys that are valid for one type only, by type.
var keysOf = map[string][]string{
	"string":  {"pattern", "minLength", "maxLength"},
	"integer": {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"},
	"array":   {"items", "minItems", "maxItems", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"},
	"object": {
		"properties", "additionalProperties", "required", "minProperties", "maxProperties", "x-kubernetes-map-type",
		"x-kubernetes-preserve-unknown-fields",
	},
	"boolean": nil,
}

var types = []string{"array", "boolean", "integer", "number", "object", "string"}

// formats are the formats that the API server checks, by type.
var formats = map[string][]string{
	"string": {
		"byte", "cidr", "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "mac", "password", "uri", "uuid",
	},
	"integer": {"int32", "int64"},
	"number":  {"double", "float"},
}

// check reports the mistakes in a node and in all nodes below it.
func (p *parser) check(s *Schema, at string) {
	switch {
	case s.Ref != "":
		p.checkRef(s, at)
	case s.IntOrString:
		if s.Type != "" {
			p.report(s.LineOf("type"), "%s: x-kubernetes-int-or-string takes no type", at)
		}
		if s.Format != "" && s.Format != quantity {
			p.report(s.LineOf("format"), "%s: format %s is unknown here: quantity is the only one", at, s.Format)
		}
	case s.Type == "":
		p.report(s.Line, "%s: type is missing: one of %s, or a $ref", at, strings.Join(types, ", "))
	case !slices.Contains(types, s.Type):
		p.report(s.LineOf("type"), "%s: type %s is unknown%s", at, s.Type, DidYouMean(s.Type, types))
	default:
		p.checkType(s, at)
	}
	if s.Pattern != "" {
		if _, err := regexp.Compile(s.Pattern); err != nil {
			p.report(s.LineOf("pattern"), "%s: pattern: %v", at, err)
		}
	}
	for _, name := range s.Names() {
		child := s.Properties[name]
		if child.Description == "" && child.Ref == "" {
			p.report(child.Line, "%s.%s: description is missing: kubectl explain and the references show it", at, name)
		}
		p.check(child, at+"."+name)
	}
	if s.Items != nil {
		p.check(s.Items, at+"[]")
	}
	if s.AdditionalProperties != nil {
		p.check(s.AdditionalProperties, at+".*")
	}
	if s.Default != nil && len(p.found) == 0 { // else the schema may be invalid
		p.checkDefault(s, at)
	}
}

func (p *parser) checkRef(s *Schema, at string) {
	if _, err := Type(s.Ref); err != nil {
		p.report(s.LineOf("$ref"), "%s: %v", at, err)
	}
	for key, line := range s.lines {
		if !slices.Contains([]string{"$ref", "title", "description", "default", "x-kubernetes-validations"}, key) {
			p.report(line, "%s: %s cannot stand beside $ref: only title, description, default and x-kubernetes-validations can", at, key)
		}
	}
}

func (p *parser) checkType(s *Schema, at string) {
	for typ, keys := range keysOf {
		if typ == s.Type || typ == "integer" && s.Type == "number" {
			continue
		}
		for _, key := range keys {
			if _, there := s.lines[key]; there {
				p.report(s.LineOf(key), "%s: %s belongs to type %s, and this is %s", at, key, typ, s.Type)
			}
		}
	}
	if s.Format != "" && !slices.Contains(formats[s.Type], s.Format) {
		hint := DidYouMean(s.Format, formats[s.Type])
		if s.Format == quantity {
			hint = ": write x-kubernetes-int-or-string: true instead of the type, since 1 is a quantity, too"
		}
		p.report(s.LineOf("format"), "%s: type %s has no format %s%s", at, s.Type, s.Format, hint)
	}
	switch s.Type {
	case "array":
		if s.Items == nil {
			p.report(s.Line, "%s: an array needs items: the schema of its entries", at)
		}
		p.checkKeys(s, at)
	case "object":
		if s.Properties != nil && s.AdditionalProperties != nil {
			p.report(s.LineOf("additionalProperties"), "%s: an object has properties or additionalProperties, not both", at)
		}
		if s.Properties == nil && s.AdditionalProperties == nil && !s.PreserveUnknown && at != "spec" {
			p.report(s.Line, "%s: an object needs properties, or additionalProperties for a map: the API server would prune everything in it", at)
		}
		for _, name := range s.Required {
			if s.Properties[name] == nil {
				p.report(s.LineOf("required"), "%s: required names %s, which is not a property%s", at, name, DidYouMean(name, s.Names()))
			}
		}
	}
}

// checkKeys checks the list type and the keys of lists of type map, as the API server does.
func (p *parser) checkKeys(s *Schema, at string) {
	if !slices.Contains([]string{"", "atomic", "set", "map"}, s.ListType) {
		p.report(s.LineOf("x-kubernetes-list-type"), "%s: x-kubernetes-list-type is atomic, set or map", at)
	}
	if (s.ListType == "map") != (len(s.ListMapKeys) > 0) {
		p.report(s.LineOf("x-kubernetes-list-type"), "%s: x-kubernetes-list-type map and x-kubernetes-list-map-keys need each other", at)
	}
	if s.Items == nil {
		return
	}
	for _, key := range s.ListMapKeys {
		if child := s.Items.Properties[key]; child == nil || child.Default == nil && !slices.Contains(s.Items.Required, key) {
			p.report(s.LineOf("x-kubernetes-list-map-keys"), "%s: key %s must be a property of the items, and required or with a default", at, key)
		}
	}
}

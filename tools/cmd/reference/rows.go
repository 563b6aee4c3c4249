package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// rows are those of all fields below a node, each after the object that it is in, in the form that crd-ref-docs writes.
func rows(of *apiextensionsv1.JSONSchemaProps, prefix string) string {
	var out strings.Builder
	for _, name := range fields.Names(of) {
		field, path := fields.Property(of, name), prefix+name
		fmt.Fprintf(&out, "| `%s` _%s_ | %s | %s | %s |\n", path, typeOf(field), lines(fields.Description(field)), byDefault(field),
			validation(field, slices.Contains(of.Required, name)))
		switch {
		case field.Properties != nil:
			out.WriteString(rows(field, path+"."))
		case field.Items != nil && field.Items.Schema.Properties != nil:
			out.WriteString(rows(field.Items.Schema, path+"[]."))
		case field.AdditionalProperties != nil && field.AdditionalProperties.Schema.Properties != nil:
			out.WriteString(rows(field.AdditionalProperties.Schema, path+".*."))
		}
	}
	return out.String()
}

func typeOf(field *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case field.Ref != nil:
		return "[" + *field.Ref + "](appservice.md#appservicespec)"
	case fields.IsQuantity(field):
		return "quantity"
	case field.XIntOrString:
		return "integer or string"
	case field.Items != nil:
		return typeOf(field.Items.Schema) + " array"
	case field.AdditionalProperties != nil:
		return "object (keys:string, values:" + typeOf(field.AdditionalProperties.Schema) + ")"
	}
	return field.Type
}

func byDefault(field *apiextensionsv1.JSONSchemaProps) string {
	if field.Default == nil {
		return ""
	}
	if text, isText := fields.Default(field).(string); isText {
		return escaped(text)
	}
	return escaped(string(field.Default.Raw))
}

func validation(field *apiextensionsv1.JSONSchemaProps, required bool) string {
	var out strings.Builder
	say := func(key, value string) { fmt.Fprintf(&out, "%s: %s <br />", key, value) }
	var keys map[string]json.RawMessage
	text, _ := json.Marshal(field) // it came from YAML
	_ = json.Unmarshal(text, &keys)
	for _, key := range []string{
		"Enum", "Maximum", "Minimum", "MultipleOf",
		"MaxItems", "MaxLength", "MaxProperties", "MinItems", "MinLength", "MinProperties",
	} {
		if value, there := keys[strings.ToLower(key[:1])+key[1:]]; there {
			say(key, escaped(string(value)))
		}
	}
	if field.Pattern != "" {
		say("Pattern", "`"+strings.ReplaceAll(field.Pattern, "|", `\|`)+"`")
	}
	for _, rule := range field.XValidations {
		say("Rule", lines(rule.Message+rule.MessageExpression))
	}
	if required {
		say("Required", `\{\}`)
	} else {
		say("Optional", `\{\}`)
	}
	return out.String()
}

func lines(text string) string { return strings.ReplaceAll(escaped(text), "\n", "<br />") }

func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "{", `\{`, "}", `\}`).Replace(text)
}

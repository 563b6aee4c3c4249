package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/example/appservice-operator/internal/fields"
)

// rows are those of all fields below a node, each after the object that it is in, in the form that crd-ref-docs writes.
func rows(of *fields.Schema, prefix string) string {
	var out strings.Builder
	for _, name := range of.Names() {
		field, path := of.Properties[name], prefix+name
		fmt.Fprintf(&out, "| `%s` _%s_ | %s | %s | %s |\n", path, typeOf(field), lines(description(field)), byDefault(field),
			validation(field, slices.Contains(of.Required, name)))
		switch {
		case field.Properties != nil:
			out.WriteString(rows(field, path+"."))
		case field.Items != nil && field.Items.Properties != nil:
			out.WriteString(rows(field.Items, path+"[]."))
		case field.AdditionalProperties != nil && field.AdditionalProperties.Properties != nil:
			out.WriteString(rows(field.AdditionalProperties, path+".*."))
		}
	}
	return out.String()
}

func description(field *fields.Schema) string {
	if field.Description == "" {
		return "As " + field.Ref + "."
	}
	return field.Description
}

func typeOf(field *fields.Schema) string {
	switch {
	case field.Ref != "":
		return "[" + field.Ref + "](appservice.md#appservicespec)"
	case field.IsQuantity():
		return "quantity"
	case field.IntOrString:
		return "integer or string"
	case field.Items != nil:
		return typeOf(field.Items) + " array"
	case field.AdditionalProperties != nil:
		return "object (keys:string, values:" + typeOf(field.AdditionalProperties) + ")"
	}
	return field.Type
}

func byDefault(field *fields.Schema) string {
	if field.Default == nil {
		return ""
	}
	if text, isText := field.Default.(string); isText {
		return escaped(text)
	}
	text, _ := json.Marshal(field.Default) // it came from YAML
	return escaped(string(text))
}

func validation(field *fields.Schema, required bool) string {
	var out strings.Builder
	say := func(key, value string) { fmt.Fprintf(&out, "%s: %s <br />", key, value) }
	if len(field.Enum) > 0 {
		text, _ := json.Marshal(field.Enum)
		say("Enum", escaped(string(text)))
	}
	for _, bound := range []struct {
		key   string
		value *float64
	}{{"Maximum", field.Maximum}, {"Minimum", field.Minimum}, {"MultipleOf", field.MultipleOf}} {
		if bound.value != nil {
			say(bound.key, strconv.FormatFloat(*bound.value, 'f', -1, 64))
		}
	}
	for _, bound := range []struct {
		key   string
		value *int64
	}{
		{"MaxItems", field.MaxItems}, {"MaxLength", field.MaxLength}, {"MaxProperties", field.MaxProperties},
		{"MinItems", field.MinItems}, {"MinLength", field.MinLength}, {"MinProperties", field.MinProperties},
	} {
		if bound.value != nil {
			say(bound.key, strconv.FormatInt(*bound.value, 10))
		}
	}
	if field.Pattern != "" {
		say("Pattern", "`"+strings.ReplaceAll(field.Pattern, "|", `\|`)+"`")
	}
	for _, rule := range field.Rules {
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

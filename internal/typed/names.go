package typed

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// fieldsOf returns the types of the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "" || strings.Contains(options, "inline"):
			inner := field.Type
			for inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			maps.Copy(out, fieldsOf(inner))
		case name != "" && name != "-":
			out[name] = field.Type
		}
	}
	return out
}

func sorted[V any](entries map[string]V) []string { return slices.Sorted(maps.Keys(entries)) }

// kindOf returns the kind of a value, never the value: it may be secret.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return "nothing"
}

// unquote returns advice for a text where another type is expected.
func unquote(value any) string {
	if _, isText := value.(string); isText {
		return ": take the quotes away"
	}
	return ""
}

// quote returns advice where a text is expected.
func quote(value any) string {
	switch value.(type) {
	case bool, int64, float64:
		return ": quote it"
	}
	return ""
}

// words returns the name of a type in words.
func words(name string) string {
	var out strings.Builder
	for i, letter := range name {
		if i > 0 && unicode.IsUpper(letter) {
			out.WriteByte(' ')
		}
		out.WriteRune(letter)
	}
	return out.String()
}

package typecheck

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

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

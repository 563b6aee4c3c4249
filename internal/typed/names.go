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

func contains(values []string, text string) bool { return slices.Contains(values, text) }

// suggestion is the field that was meant, if one is close.
func suggestion(name string, known map[string]reflect.Type) string {
	return closest(name, sorted(known))
}

// closest is the one of some words that is most like another, if it is like it at all.
func closest(word string, words []string) string {
	best, distance := "", max(2, len(word)/3)+1
	for _, candidate := range words {
		if d := edits(strings.ToLower(word), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

// edits is the number of letters that are to be inserted, left out, replaced or swapped with the next to make one word of another.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(replaced, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// kindOf says what a value is, never which: it may be secret.
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

// unquote is advice for a text that is to be something else.
func unquote(value any) string {
	if _, isText := value.(string); isText {
		return ": take the quotes away"
	}
	return ""
}

// quote is advice for what is to be a text.
func quote(value any) string {
	switch value.(type) {
	case bool, int64, float64:
		return ": quote it"
	}
	return ""
}

// words is the name of a type in words.
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

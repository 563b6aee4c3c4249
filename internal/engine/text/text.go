// Package text makes texts fit for messages: short, in one line, and nothing in them that terminals act on.
package text

import (
	"fmt"
	"strings"
)

// Line returns a text in one line, without controls. Colors are left out.
func Line(text string) string {
	return Visible(strings.Join(strings.Fields(sequences.ReplaceAllString(text, "")), " "))
}

// Unbroken returns a text in one line, with its blanks as they are.
func Unbroken(text string) string {
	ends := func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }
	return Visible(strings.Join(strings.FieldsFunc(sequences.ReplaceAllString(text, ""), ends), " "))
}

// Cut returns a text of at most that many characters: an ellipsis stands for the rest.
func Cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// First returns the first entries of a list, and after them how many more there are.
func First(list []string, most int) []string {
	if more := len(list) - most; more > 0 {
		return append(list[:most:most], fmt.Sprintf("and %d more", more))
	}
	return list
}

// Some lists the first names, and says how many more there are.
func Some(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Agree returns what goes with a number: one with 1, many with all others.
func Agree[N int | int32](number N, one, many string) string {
	if number == 1 {
		return one
	}
	return many
}

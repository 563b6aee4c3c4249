package text

import (
	"fmt"
	"strings"
)

// plain are the characters of a word that no shell acts on.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@+:,./_-"

// Shell returns a word as a shell reads it, in one line: quoted if it has other characters than those of names and
// paths, and with the escapes of $'…' if one of them is a control or ends a line.
func Shell(word string) string {
	special := func(r rune) bool { return r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029' || IsControl(r) }
	switch {
	case word != "" && strings.Trim(word, plain) == "":
		return word
	case strings.IndexFunc(word, special) < 0:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var out strings.Builder
	for _, r := range word {
		switch {
		case special(r):
			for _, b := range []byte(string(r)) {
				fmt.Fprintf(&out, `\%03o`, b)
			}
		case r == '\'', r == '\\':
			out.WriteString(`\` + string(r))
		default:
			out.WriteRune(r)
		}
	}
	return "$'" + out.String() + "'"
}

package text

import (
	"regexp"
	"strings"

	"github.com/mitchellh/go-wordwrap"
)

// commands match those that people copy out of a text, up to its next punctuation.
var commands = regexp.MustCompile(`\b(?:kubectl|helm) [^;,()]+`)

// Wrap breaks a text between words into lines of at most width characters; a width of 0 breaks none. Words and commands
// that are longer stay whole.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return []string{text}
	}
	const unbreakable = "\u00a0"
	whole := commands.ReplaceAllStringFunc(text,
		func(command string) string { return strings.ReplaceAll(command, " ", unbreakable) })
	lines := strings.Split(wordwrap.WrapString(whole, uint(width)), "\n")
	for i := range lines {
		lines[i] = strings.ReplaceAll(strings.TrimRight(lines[i], " "), unbreakable, " ")
	}
	return lines
}

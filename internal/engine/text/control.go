package text

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// IsControl reports whether a terminal acts on a character rather than shows it: controls, also those of eight bits,
// and those that change the direction of text, by which it reads as another one. Ends of lines and tabs are none.
func IsControl(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, 0x7f <= r && r <= 0x9f: // C0, DEL, C1
		return true
	}
	return 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 // bidirectional
}

// Visible returns a text without controls: each is replaced by its escape, as in \u001b, which also JSON has in
// strings. Bytes that are no character become the one that stands for those.
func Visible(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, IsControl) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if IsControl(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// sequences are those by which programs color what they print, or link it: ESC [ … letter, and ESC ] … BEL.
var sequences = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)")

package text

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLine(t *testing.T) {
	assert.Equal(t, "one line", Line(" one\n\t line\n"))
}

func TestCutCountsCharacters(t *testing.T) {
	assert.Equal(t, "äöü", Cut("äöü", 3))
	assert.Equal(t, "äö…", Cut("äöüß", 3))
}

func TestListsSayHowManyMoreThereAre(t *testing.T) {
	list := []string{"a", "b", "c"}
	assert.Equal(t, list, First(list, 3))
	assert.Equal(t, []string{"a", "b", "and 1 more"}, First(list, 2))
	assert.Equal(t, []string{"a", "b", "c"}, list, "the list itself stays as it is")
	assert.Equal(t, "a, b, c", Some(list, 3))
	assert.Equal(t, "a, b and 1 more", Some(list, 2))
}

func TestNoControlIsInALine(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[31mError\x1b[0m: \x1b[1;4mbad\x1b[m":             "Error: bad",
		"\x1b]8;;https://evil.example/\x1b\\click\x1b]8;;\x07": "click",
		"half a color \x1b[31":                                 `half a color \u001b[31`,
		"\x1b[2K\x1b[1A\x1b]0;pwned\x07":                       "",
		"\a\b\x7f\u009b2J":                                     `\u0007\u0008\u007f\u009b2J`,
		"10 %\r20 %":                                           "10 % 20 %",
		"admin\u202etxt.exe\u2066":                             `admin\u202etxt.exe\u2066`,
		"مرحبا שלום é 🙂 \u200f":                                "مرحبا שלום é 🙂 \u200f",
	} {
		assert.Equal(t, want, Line(text))
	}
}

func TestVisible(t *testing.T) {
	assert.Equal(t, "a\n\tb\nc", Visible("a\n\tb\r\nc"))
	assert.Equal(t, `\u001b[31m`+"\ufffd", Visible("\x1b[31m\x9b"))
}

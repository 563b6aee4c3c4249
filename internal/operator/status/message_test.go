package status

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	a, z, word := strings.Repeat("a", 200), strings.Repeat("z", 200), strings.Repeat("word ", 60)
	cases := map[string]struct{ message, want string }{
		"empty":                     {"", ""},
		"one line":                  {"it is full", "it is full"},
		"several lines":             {"it\n is\r\n\tfull \n", "it is full"},
		"256 characters":            {strings.Repeat("a", 256), strings.Repeat("a", 256)},
		"256 characters, 768 bytes": {strings.Repeat("字", 256), strings.Repeat("字", 256)},
		"one word too long":         {a + z, strings.Repeat("a", 102) + " … " + strings.Repeat("z", 151)},
		"one word of many bytes":    {strings.Repeat("字", 257), strings.Repeat("字", 102) + " … " + strings.Repeat("字", 151)},
		"between two words":         {"cannot " + word + word + "why", "cannot " + strings.Repeat("word ", 19) + "… " + strings.Repeat("word ", 29) + "why"},
		"a long word, then a cause": {a + z + ": why", strings.Repeat("a", 102) + " … " + strings.Repeat("z", 146) + ": why"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := OneLine(test.message)
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if count := utf8.RuneCountInString(got); count > maxMessage {
				t.Errorf("it has %d characters", count)
			}
		})
	}
}

func TestAMessageFitsWhateverTheRoom(t *testing.T) {
	for most := range 300 {
		for _, message := range []string{strings.Repeat("字", 400), strings.Repeat("ab ", 200), "x " + strings.Repeat("y", 400)} {
			if got := shorten(message, most); utf8.RuneCountInString(got) > most || !utf8.ValidString(got) {
				t.Fatalf("%d characters became %q", most, got)
			}
		}
	}
}

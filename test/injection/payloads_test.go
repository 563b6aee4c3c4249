//go:build cluster

package injection

import "strings"

// marker is a harmless word that no part of a chart has.
const marker = "zzmarkerzz"

// payloads are texts with a special meaning to some program on the way.
var payloads = map[string]string{
	"a key on a line of its own":      "x\nhostNetwork: true",
	"a key behind a quote":            "x\"\nhostNetwork: true\ny: \"z",
	"a document":                      "x\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: evil}\n",
	"a separator":                     "---",
	"an action":                       "{{ .Release.Name }}",
	"an open action":                  "{{ fail \"x\"",
	"what a template says of nothing": "<no value>",
	"an alias":                        "*a",
	"an anchor":                       "&a x",
	"a tag":                           "!!binary eA==",
	"a merge":                         "<<",
	"yes":                             "yes",
	"null":                            "null",
	"an exponent":                     "1e3",
	"a hexadecimal number":            "0x1F",
	"a map":                           "{a: [b]}",
	"an item":                         "- a",
	"a comment":                       "# a",
	"a colon":                         ": a",
	"a literal":                       "|",
	"quotes":                          `"a' "b`,
	"backslashes":                     `\n \x41 \" \`,
	"a dollar":                        "$HOME ${HOME} $(HOME) $$",
	"a format":                        "%s%d%!(EXTRA)",
	"a path upwards":                  "../../etc/passwd",
	"markup":                          `<script>a&amp;</script>`,
	"line ends of Windows":            "a\r\nb\r\n",
	"line ends alone":                 "\n\n",
	"line ends at both ends":          "\na\n\n",
	"an indented first line":          "  a\nb",
	"tabs and spaces":                 "\ta \t ",
	"a line separator":                "a\u2028b",
	"a byte order mark":               "\ufeffa",
	"a zero":                          "a\x00b",
	"a delete":                        "a\x7fb",
	"a rocket":                        "🚀",
	"10 kB":                           strings.Repeat("0123456789", 1024),
	"10 kB of lines":                  strings.Repeat(strings.Repeat("word ", 40)+"\nkey: value # more\n", 47),
}

package text

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAShellReadsTheSameWord(t *testing.T) {
	bash, err := exec.LookPath("bash") // which knows $'…', as POSIX has it since 2024
	require.NoError(t, err)
	for name, word := range map[string]string{
		"a path":               "/data",
		"nothing":              "",
		"a blank":              "/my data",
		"a tilde":              "~root",
		"a quote":              "it's",
		"quotes":               `'"'"`,
		"a command":            "/data;touch${IFS}/tmp/pwned;$(id)`id`",
		"an end of a line":     "a\nb\r\n",
		"an escape sequence":   "\x1b[31mred\\n",
		"another end of lines": "a\u2028b\u0085c\u202e",
		"other alphabets":      "/данные/é",
		"a glob":               "*?[a]{b,c}!",
	} {
		t.Run(name, func(t *testing.T) {
			quoted := Shell(word)
			assert.Equal(t, -1, strings.IndexFunc(quoted, func(r rune) bool { return r == '\n' || IsControl(r) }), quoted)
			out, err := exec.CommandContext(t.Context(), bash, "-c", "printf '%s.' "+quoted).Output()
			require.NoError(t, err)
			assert.Equal(t, word+".", string(out), quoted)
			if plainly := strings.Trim(word, plain) == "" && word != ""; plainly {
				assert.Equal(t, word, quoted)
			}
		})
	}
}

package plugin

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/text"
)

// styles matches the styles of this program.
var styles = regexp.MustCompile("\x1b\\[(?:31|32|33|1|2|0)m")

// FuzzTerminal: whatever is written, and in whatever pieces, no terminal acts on it, apart from this program's colors; and JSON and YAML mean what
// they meant.
func FuzzTerminal(f *testing.F) {
	for _, text := range []string{"", "web", "\x1b[2K\x1b[1A\x1b[32mall good", "\x1b]52;c;Y3VybA==\x07", "\x9b2J\u009b2J", "a\u202eb\u2066c", "a\u0085b\nc\u2028d", "- a: \u202eb #", "\r\n\r", "🙂é"} {
		f.Add(text, uint8(1))
		f.Add("1 "+text+" 2", uint8(3))
	}
	f.Fuzz(func(t *testing.T, content string, piece uint8) {
		var got bytes.Buffer
		s := &cli{color: colorAlways}
		s.Out = visibly(&got)
		for part := range slices.Chunk([]byte(content), int(piece)%7+1) {
			_, err := s.Out.Write(part)
			require.NoError(t, err)
		}
		if strings.Contains(got.String(), "\x1b") {
			t.Errorf("%q is written as %q, with a color that is not this program's", content, got.String())
		}
		_, err := io.WriteString(s.Out, s.paint(s.Out, red, content)+"\n")
		require.NoError(t, err)
		shown := styles.ReplaceAllString(got.String(), "")
		if strings.IndexFunc(shown, text.IsControl) >= 0 || !utf8.ValidString(shown) {
			t.Errorf("%q is written as %q", content, shown)
		}
		if !utf8.ValidString(content) || strings.ContainsAny(content, "\u2028\u2029") { // the library for YAML loses these
			return
		}
		for _, output := range []string{asJSON, asYAML} {
			got.Reset()
			require.NoError(t, s.printData(map[string]string{content: content}, output))
			read := map[string]string{}
			if output == asJSON {
				require.NoError(t, json.Unmarshal(got.Bytes(), &read))
			} else {
				require.NoError(t, yaml.Unmarshal(got.Bytes(), &read), got.String())
			}
			assert.Equal(t, map[string]string{content: content}, read, "as %s it is\n%s", output, got.String())
		}
	})
}

func TestColorsAreOfThisProgramOnly(t *testing.T) {
	var got bytes.Buffer
	s := &cli{color: colorAlways}
	s.Out = visibly(&got)
	_, err := io.WriteString(s.Out, s.paint(s.Out, green, "\x1b[31mé"))
	require.NoError(t, err)
	assert.Equal(t, "\x1b[32m\\u001b[31mé\x1b[0m", got.String())
}

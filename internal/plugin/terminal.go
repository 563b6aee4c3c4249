package plugin

import (
	"crypto/rand"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/example/appservice-operator/internal/engine/text"
)

// visible writes text that terminals show as it is: its parts come from clusters and files, and terminals act
// on some characters. Only the styles of paint are left.
type visible struct {
	to io.Writer
	// rest is the beginning of a character, whose end comes with the next write.
	rest []byte
}

// visibly returns a writer to the same place that is visible.
func visibly(out io.Writer) io.Writer {
	if _, is := out.(*visible); is {
		return out
	}
	return &visible{to: out}
}

// raw returns the writer below a visible one, for programs that the user chose and that know terminals.
func raw(out io.Writer) io.Writer {
	if v, is := out.(*visible); is {
		return v.to
	}
	return out
}

// mark stands for the escape character in styles. Nothing that is printed can contain it by chance or intent.
var mark = rand.Text()

func (v *visible) Write(content []byte) (int, error) {
	all := slices.Concat(v.rest, content)
	end := len(all)
	for begin := max(0, end-utf8.UTFMax+1); begin < len(all); begin++ {
		if utf8.RuneStart(all[begin]) && !utf8.FullRune(all[begin:]) {
			end = begin
			break
		}
	}
	v.rest = append([]byte{}, all[end:]...)
	var out strings.Builder
	for i, part := range strings.Split(string(all[:end]), mark) {
		if i > 0 {
			code, rest, _ := strings.Cut(part, "m")
			out.WriteString("\x1b" + code + "m")
			part = rest
		}
		out.WriteString(text.Visible(part))
	}
	if _, err := io.WriteString(v.to, out.String()); err != nil {
		return 0, err
	}
	return len(content), nil
}

package status

import (
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
)

// maxMessage is the length of a condition's message in characters.
const maxMessage = 256

// OneLine shortens a message to one line, as conditions and events require. Both ends are kept: what went wrong comes
// first, and why comes last.
func OneLine(message string) string { return shorten(message, maxMessage) }

// visible leaves no controls for terminals in what a status takes from specs and objects as it is.
func visible(out *v1.AppServiceStatus) {
	out.Image, out.URL = text.Visible(out.Image), text.Visible(out.URL)
	for i := range out.Endpoints {
		out.Endpoints[i].URL = text.Visible(out.Endpoints[i].URL)
	}
	for i := range out.Problems {
		problem := &out.Problems[i]
		problem.Source, problem.Message = text.Visible(problem.Source), text.Visible(problem.Message)
		problem.Hint = text.Visible(problem.Hint)
	}
}

// cut marks the place of text that was left out.
const cut = " … "

// shorten converts a message to one line of at most that many characters. Text is left out of the middle, between words
// if possible; the end gets three fifths of what remains.
func shorten(message string, most int) string {
	message = text.Line(message)
	runes := []rune(message)
	if len(runes) <= most {
		return message
	}
	room := most - len([]rune(cut))
	if room < 2 {
		return string(runes[:max(0, most)])
	}
	end := room * 3 / 5
	first, last := string(runes[:room-end]), string(runes[len(runes)-end:])
	if runes[room-end] != ' ' {
		first = withoutPartAfter(first)
	}
	if runes[len(runes)-end-1] != ' ' {
		last = withoutPartBefore(last)
	}
	return strings.TrimSpace(first) + cut + strings.TrimSpace(last)
}

// withoutPartAfter drops a partial word at the end of a text, unless it is half of the text.
func withoutPartAfter(text string) string {
	if at := strings.LastIndexByte(text, ' '); at > len(text)/2 {
		return text[:at]
	}
	return text
}

// withoutPartBefore drops a partial word at the beginning of a text, unless it is half of the text.
func withoutPartBefore(text string) string {
	if at := strings.IndexByte(text, ' '); at >= 0 && at < len(text)/2 {
		return text[at:]
	}
	return text
}

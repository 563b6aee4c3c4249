package status

import "strings"

// maxMessage is the length of a condition's message in characters.
const maxMessage = 256

// OneLine makes one line of a message, as short as a condition's or an event's has to be. Both its ends stay: what went wrong comes first,
// and why comes last.
func OneLine(message string) string { return shorten(message, maxMessage) }

// cut stands for what was left out.
const cut = " … "

// shorten makes one line of a message, of that many characters at most. What is left out is in the middle, between words where there are
// any; of what stays, the end has three fifths.
func shorten(message string, most int) string {
	message = strings.Join(strings.Fields(message), " ")
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

// withoutPartAfter drops the part of a word that a text ends with, unless that is half of the text.
func withoutPartAfter(text string) string {
	if at := strings.LastIndexByte(text, ' '); at > len(text)/2 {
		return text[:at]
	}
	return text
}

// withoutPartBefore drops the part of a word that a text begins with, unless that is half of the text.
func withoutPartBefore(text string) string {
	if at := strings.IndexByte(text, ' '); at >= 0 && at < len(text)/2 {
		return text[at:]
	}
	return text
}

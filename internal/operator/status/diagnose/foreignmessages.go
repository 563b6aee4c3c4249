package diagnose

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/example/appservice-operator/internal/engine/text"
)

// maxDetail is the maximum length of foreign messages in characters.
const maxDetail = 140

// maxRead is how many bytes of foreign messages are read: a message may have a megabyte; one line is shown.
const maxRead = 16 << 10

// Parts that are removed from foreign messages: those that change from one time to the next, and possible secrets.
var (
	timestamp  = regexp.MustCompile(`\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z| ?[+-]\d{2}:?\d{2})?(?: UTC)?|^[IWEF]\d{4} \d{2}:\d{2}:\d{2}\.\d+\s+\d+ |\b\d{2}:\d{2}:\d{2}(?:[.,]\d+)?\b`)
	password   = regexp.MustCompile(`://[^/\s@]+@`)
	assignment = regexp.MustCompile(`(?i)\b([\w-]*(?:password|passwd|pwd|secret|token|api[_-]?key|authorization|credential)[\w-]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|(?:bearer |basic )?[^\s,;]+)`)
	podInRefs  = regexp.MustCompile(`\s*\(pod: "[^"]*", container: [^)]*\)`)
	emptiness  = regexp.MustCompile(`^[\s:;,|\[\]()-]+|\s{2,}`)
)

// Brief shortens a foreign message to one line, without times and anything that may be secret.
func Brief(message string) string {
	// first of all: controls within words keep what is secret from being recognized
	message = text.Line(strings.ToValidUTF8(message[:min(len(message), maxRead)], ""))
	message = podInRefs.ReplaceAllString(message, "")
	message = timestamp.ReplaceAllString(message, "")
	message = password.ReplaceAllString(message, "://…@")
	message = assignment.ReplaceAllString(message, "${1}…")
	message = strings.TrimRight(emptiness.ReplaceAllString(text.Line(message), ""), " .")
	return text.Cut(message, maxDetail)
}

// AfterLast returns the text after the last separator; all of it if there is none.
func AfterLast(message, separator string) string {
	if at := strings.LastIndex(message, separator); at >= 0 {
		return message[at+len(separator):]
	}
	return message
}

// telling are the beginnings of lines that are more informative than the last one.
var telling = []string{"panic: ", "fatal error: ", "Error: ", "ERROR", "FATAL", "Fatal", "Caused by: ",
	"Exception in thread "}

// lastWords returns the most informative line of a termination message: by default that message is the end of the log.
func lastWords(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	last := ""
	for _, line := range slices.Backward(lines) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		if slices.ContainsFunc(telling, func(prefix string) bool { return strings.HasPrefix(trimmed, prefix) }) {
			return Brief(trimmed)
		}
		trace := strings.TrimLeft(line, " \t") != line || strings.HasPrefix(trimmed, "at ") ||
			strings.HasPrefix(trimmed, "goroutine ") || strings.HasPrefix(trimmed, "exit status ")
		if last == "" && !trace {
			last = trimmed
		}
	}
	return Brief(cmp.Or(last, lines[len(lines)-1]))
}

package suites

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// figures are how tests sum up: FAULTS plans=309 failed=0.
var figures = regexp.MustCompile(`^[A-Z]+( \w+=\S+)+$`)

// failedTests reads what gotestsum prints, passes it on to standard output, and lists the tests that failed. A run of many
// suites ends with that list: what keeps only the end of a long log has it.
type failedTests struct {
	partial []byte
	running string            // the test that the next lines are of, if they name it
	said    map[string]string // by test: its last line of the form FILE_test.go:LINE
	names   []string
	races   int
	figures string // of the suite that runs
}

// Write never fails.
func (f *failedTests) Write(text []byte) (int, error) {
	_, _ = os.Stdout.Write(text)
	lines := bytes.Split(append(f.partial, text...), []byte("\n"))
	for _, line := range lines[:len(lines)-1] {
		f.line(string(line))
	}
	f.partial = bytes.Clone(lines[len(lines)-1])
	return len(text), nil
}

func (f *failedTests) line(line string) {
	words := strings.Fields(line)
	switch {
	case len(words) > 3 && words[0] == "===" && words[1] == "FAIL:": // === FAIL: PACKAGE TEST, of gotestsum, once
		f.running = words[3]
		f.names = append(f.names, words[3])
	case len(words) > 2 && (words[0] == "===" || words[0] == "---"): // of go test -v, which it passes on
		f.running = words[2]
	case figures.MatchString(line):
		f.figures += " " + line
	case strings.Contains(line, "WARNING: DATA RACE"):
		f.races++
	case strings.HasPrefix(line, " ") && strings.Contains(line, "_test.go:"):
		f.say(strings.Join(words, " "))
	case len(words) > 1 && (words[0] == "Error:" || words[0] == "Messages:"): // of testify, below that line
		f.say(f.said[f.running] + " " + strings.Join(words, " "))
	}
}

func (f *failedTests) say(text string) {
	if f.said == nil {
		f.said = map[string]string{}
	}
	f.said[f.running] = text
}

// print lists them, a line each.
func (f *failedTests) print(out io.Writer) {
	for _, name := range f.names {
		fmt.Fprintf(out, "FAIL %s: %.300s\n", name, f.said[name])
	}
	if f.races > 0 {
		fmt.Fprintf(out, "DATA RACE reported %d times\n", f.races)
	}
}

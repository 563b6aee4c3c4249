package suites

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// figures are how tests sum up: FAULTS plans=309 failed=0.
var figures = regexp.MustCompile(`^[A-Z]+( \w+=\S+)+$`)

// outcome is what tests have said. A run of many suites ends with it: what keeps only the end of a long log has it.
type outcome struct {
	failed  []string // a line for each test, with its last line of the form FILE_test.go:LINE
	races   int
	figures string // of the suite that runs
}

// read adds what the tests of a suite have said, from the files of events that gotestsum has written.
func (o *outcome) read(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		said := map[string]string{}
		for line := range strings.Lines(string(text)) {
			var event struct{ Action, Test, Output string }
			if json.Unmarshal([]byte(line), &event) == nil { // the last one is cut off where a run was interrupted
				o.note(event.Action, event.Test, event.Output, said)
			}
		}
	}
	return nil
}

func (o *outcome) note(action, test, output string, said map[string]string) {
	line := strings.Join(strings.Fields(output), " ")
	switch {
	case action == "fail" && test != "":
		o.failed = append(o.failed, fmt.Sprintf("FAIL %s: %.300s", test, said[test]))
	case figures.MatchString(line):
		o.figures += " " + line
	case strings.Contains(line, "WARNING: DATA RACE"):
		o.races++
	case strings.HasPrefix(output, " ") && strings.Contains(line, "_test.go:"):
		said[test] = line
	case strings.HasPrefix(line, "Error: "), strings.HasPrefix(line, "Messages: "): // of testify, below that line
		said[test] += " " + line
	}
}

func (o *outcome) print(out io.Writer) {
	for _, line := range o.failed {
		fmt.Fprintln(out, line)
	}
	if o.races > 0 {
		fmt.Fprintf(out, "DATA RACE reported %d times\n", o.races)
	}
}

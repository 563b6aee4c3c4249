// Package figures sums up what parts of a test run found: each leaves a file with figures such as vectors=40 or render_equal=12/12 in a folder.
// The summary is one line; a figure that is missing, or not as it has to be, is an error.
package figures

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Figure is one that a summary has to have.
type Figure struct {
	Name string
	// Part is the file that it comes from.
	Part string
	// Holds reports whether it is as it has to be, given all figures.
	Holds func(v Value, all map[string]Value) bool
	// Wanted says in words what it has to be.
	Wanted string
}

// Value is a number, or a number of how many: 12, or 12/12.
type Value struct {
	N, Of int
	text  string
}

// Zero figures hold if nothing was found.
func Zero(v Value, _ map[string]Value) bool { return v.N == 0 }

// AtLeast figures hold if they are large enough.
func AtLeast(least int) func(Value, map[string]Value) bool {
	return func(v Value, _ map[string]Value) bool { return v.N >= least }
}

// All figures hold if they are as many as there are, and there are some.
func All(v Value, _ map[string]Value) bool { return v.N == v.Of && v.N > 0 }

// Main is that of a command which prints the summary of a folder: what it was called with, the title of the line, and what has to be in it.
func Main(command, title, folder string, wanted []Figure) {
	flag.StringVar(&folder, "figures", folder, "the folder that the parts wrote into")
	flag.Parse()
	summary, err := Sum(os.DirFS(folder), title, wanted)
	fmt.Println(summary)
	if err != nil {
		fmt.Fprintln(os.Stderr, command+":", err)
		os.Exit(1)
	}
}

// Sum makes the summary of the files of a folder. The error says what is missing or wrong.
func Sum(folder fs.FS, title string, figures []Figure) (summary string, err error) {
	all, failed, errs := map[string]Value{}, map[string]bool{}, []error(nil)
	for _, wanted := range figures {
		if _, read := all[wanted.Name]; read || failed[wanted.Part] {
			continue
		}
		if err := read(folder, wanted.Part, all); err != nil {
			failed[wanted.Part] = true
			errs = append(errs, err)
		}
	}
	line := title
	for _, wanted := range figures {
		value, there := all[wanted.Name]
		switch {
		case !there && !failed[wanted.Part]:
			errs = append(errs, fmt.Errorf("%s has no figure %s", wanted.Part, wanted.Name))
			fallthrough
		case !there:
			line += fmt.Sprintf(" %s=?", wanted.Name)
			continue
		case !wanted.Holds(value, all):
			errs = append(errs, fmt.Errorf("%s is %s and has to be %s", wanted.Name, value.text, wanted.Wanted))
		}
		line += fmt.Sprintf(" %s=%s", wanted.Name, value.text)
	}
	return line, errors.Join(errs...)
}

// read adds the figures of a part, as in "vectors=40 blocked=40".
func read(folder fs.FS, part string, all map[string]Value) error {
	text, err := fs.ReadFile(folder, part)
	if err != nil {
		return fmt.Errorf("the part %s left no figures: %w", part, err)
	}
	for _, field := range strings.Fields(string(text)) {
		name, word, _ := strings.Cut(field, "=")
		value, err := parse(word)
		if err != nil {
			return fmt.Errorf("the part %s has %q, which is no figure", part, field)
		}
		all[name] = value
	}
	return nil
}

func parse(word string) (Value, error) {
	number, of, isPart := strings.Cut(word, "/")
	n, err := strconv.Atoi(number)
	if err != nil || !isPart {
		return Value{N: n, text: word}, err
	}
	all, err := strconv.Atoi(of)
	return Value{N: n, Of: all, text: word}, err
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// figure is one that the summary has to have.
type figure struct {
	name string
	// part is the file that it comes from.
	part string
	// holds reports whether it is as it has to be, given all figures.
	holds func(n int, all map[string]int) bool
	// wanted says in words what it has to be.
	wanted string
}

func zero(n int, _ map[string]int) bool { return n == 0 }

func atLeast(least int) func(int, map[string]int) bool {
	return func(n int, _ map[string]int) bool { return n >= least }
}

// figures are those of the summary, in its order.
var figures = []figure{
	{"injections", "input", atLeast(500), "at least 500"},
	{"changed", "input", zero, "0: a text became something else than text"},
	{"vectors", "vectors", atLeast(30), "at least 30"},
	{"blocked", "vectors", func(n int, all map[string]int) bool { return n == all["vectors"] }, "as many as there are vectors"},
	{"unused_rights", "rights", zero, "0: what nobody uses is not granted"},
	{"forbidden", "rights", zero, "0: what the operator asks for is granted"},
}

// sum makes the summary of the files of a folder. The error says what is missing or wrong.
func sum(folder fs.FS) (summary string, err error) {
	all, failed, errs := map[string]int{}, map[string]bool{}, []error(nil)
	for _, wanted := range figures {
		if _, read := all[wanted.name]; read || failed[wanted.part] {
			continue
		}
		if err := read(folder, wanted.part, all); err != nil {
			failed[wanted.part] = true
			errs = append(errs, err)
		}
	}
	line := "SECURITY"
	for _, wanted := range figures {
		n, there := all[wanted.name]
		switch {
		case !there && !failed[wanted.part]:
			errs = append(errs, fmt.Errorf("%s has no figure %s", wanted.part, wanted.name))
			fallthrough
		case !there:
			line += fmt.Sprintf(" %s=?", wanted.name)
			continue
		case !wanted.holds(n, all):
			errs = append(errs, fmt.Errorf("%s is %d and has to be %s", wanted.name, n, wanted.wanted))
		}
		line += fmt.Sprintf(" %s=%d", wanted.name, n)
	}
	return line, errors.Join(errs...)
}

// read adds the figures of a part, as in "vectors=40 blocked=40".
func read(folder fs.FS, part string, all map[string]int) error {
	text, err := fs.ReadFile(folder, part)
	if err != nil {
		return fmt.Errorf("the part %s left no figures: %w", part, err)
	}
	for _, field := range strings.Fields(string(text)) {
		name, value, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("the part %s has %q, which is no figure", part, field)
		}
		all[name] = n
	}
	return nil
}

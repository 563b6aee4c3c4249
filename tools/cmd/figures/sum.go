package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// figure is a required figure of a summary.
type figure struct {
	name string
	// part is the file that it comes from.
	part string
	// holds reports whether it has a permitted value, given all figures.
	holds func(v value, all map[string]value) bool
	// wanted describes that value in words.
	wanted string
}

// value is a number, or a number of how many: 12, or 12/12.
type value struct {
	n, of int
	text  string
}

// zero figures hold if they are 0.
func zero(v value, _ map[string]value) bool { return v.n == 0 }

// atLeast figures hold if they are large enough.
func atLeast(least int) func(value, map[string]value) bool {
	return func(v value, _ map[string]value) bool { return v.n >= least }
}

// whole figures hold if both numbers are equal and not 0.
func whole(v value, _ map[string]value) bool { return v.n == v.of && v.n > 0 }

// sum returns the line for the files of a folder. The error says what is missing or wrong.
func (s summary) sum(folder fs.FS) (line string, err error) {
	all, failed, errs := map[string]value{}, map[string]bool{}, []error(nil)
	for _, wanted := range s.figures {
		if _, read := all[wanted.name]; read || failed[wanted.part] {
			continue
		}
		if err := read(folder, wanted.part, all); err != nil {
			failed[wanted.part] = true
			errs = append(errs, err)
		}
	}
	line = s.title
	for _, wanted := range s.figures {
		found, there := all[wanted.name]
		switch {
		case !there && !failed[wanted.part]:
			errs = append(errs, fmt.Errorf("%s has no figure %s", wanted.part, wanted.name))
			fallthrough
		case !there:
			line += fmt.Sprintf(" %s=?", wanted.name)
			continue
		case !wanted.holds(found, all):
			errs = append(errs, fmt.Errorf("%s is %s and has to be %s", wanted.name, found.text, wanted.wanted))
		}
		line += fmt.Sprintf(" %s=%s", wanted.name, found.text)
	}
	return line, errors.Join(errs...)
}

// read adds the figures of a part, as in "vectors=40 blocked=40".
func read(folder fs.FS, part string, all map[string]value) error {
	text, err := fs.ReadFile(folder, part)
	if err != nil {
		return fmt.Errorf("the part %s left no figures: %w", part, err)
	}
	for _, field := range strings.Fields(string(text)) {
		name, word, _ := strings.Cut(field, "=")
		number, err := parse(word)
		if err != nil {
			return fmt.Errorf("the part %s has %q, which is not a figure", part, field)
		}
		all[name] = number
	}
	return nil
}

func parse(word string) (value, error) {
	number, of, isPart := strings.Cut(word, "/")
	n, err := strconv.Atoi(number)
	if err != nil || !isPart {
		return value{n: n, text: word}, err
	}
	all, err := strconv.Atoi(of)
	return value{n: n, of: all, text: word}, err
}

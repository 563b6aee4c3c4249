// Command figures sums up what the parts of a test run found, the last line of "make test-cli" and "make
// test-security":
//
//	go run ./tools/cmd/figures cli
//
// Each part leaves a file with figures such as vectors=40 in a folder. A figure that is missing,
// or not as it has to be, is an error.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// figure is one of a summary, from the file of a part. It must be equal to another figure, or to 0 if none is named;
// or at least as large as that one, or as a number.
type figure struct {
	part, name, equals, atLeast string
	least                       int
	why                         string
}

// summaries are the lines in the order of their figures, by the folder in bin.
var summaries = map[string][]figure{
	"cli": {
		{part: "examples", name: "commands", least: 1},
		{part: "examples", name: "examples_run", atLeast: "commands", why: "each command has an example"},
		{part: "lint", name: "lint_rules", least: 1},
		{part: "adoption", name: "adopted", least: 4, why: "what was applied, what Helm installed, all kinds, a StatefulSet"},
		{part: "adoption", name: "restarted", why: "no pod of what is adopted"},
	},
	"security": {
		{part: "input", name: "injections", least: 500},
		{part: "input", name: "changed", why: "a text became something else than text"},
		{part: "vectors", name: "vectors", least: 230},
		{part: "vectors", name: "blocked", equals: "vectors"},
		{part: "vectors", name: "open", least: 100, why: "what Kubernetes itself refuses, open does not lift"},
	},
}

func main() {
	name := strings.Join(os.Args[1:], " ")
	line, err := sum(name, os.DirFS("bin/"+name))
	fmt.Println(line)
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// sum returns the line for the files of a folder. The error says what is missing or wrong.
func sum(name string, folder fs.FS) (string, error) {
	if summaries[name] == nil {
		return "", fmt.Errorf("cannot sum up %q: it is cli or security", name)
	}
	line, errs, found := strings.ToUpper(name), []error(nil), map[string]int{}
	for _, f := range summaries[name] {
		word, err := f.read(folder)
		line += " " + f.name + "=" + word
		if err == nil {
			found[f.name], err = f.check(word, found)
		}
		errs = append(errs, err)
	}
	return line, errors.Join(errs...)
}

// read returns the figure as its part left it, and else a question mark.
func (f figure) read(folder fs.FS) (string, error) {
	text, err := fs.ReadFile(folder, f.part)
	if err != nil {
		return "?", fmt.Errorf("the part %s left no figures: %w", f.part, err)
	}
	for word := range strings.FieldsSeq(string(text)) {
		if value, is := strings.CutPrefix(word, f.name+"="); is {
			return value, nil
		}
	}
	return "?", fmt.Errorf("%s has no figure %s", f.part, f.name)
}

func (f figure) check(word string, found map[string]int) (n int, err error) {
	if n, err = strconv.Atoi(word); err != nil {
		return 0, fmt.Errorf("the part %s has %q, which is not a figure", f.part, f.name+"="+word)
	}
	least := max(f.least, found[f.atLeast])
	switch {
	case n < least:
		return n, fmt.Errorf("%s is %s and has to be at least %d: %s", f.name, word, least, f.why)
	case least == 0 && n != found[f.equals]:
		return n, fmt.Errorf("%s is %s and has to be %d: %s", f.name, word, found[f.equals], f.why)
	}
	return n, nil
}

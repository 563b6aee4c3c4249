// Command figures sums up what the parts of a test run found, the last line of "make test-cli" and "make test-security":
//
//	go run ./tools/cmd/figures cli
//
// Each part leaves a file with figures such as vectors=40 or render_equal=12/12 in a folder. The summary is one line; a figure that is
// missing, or not as it has to be, is an error.
package main

import (
	"fmt"
	"os"
)

// summary is the line of one test run.
type summary struct {
	title   string
	folder  string   // that the parts wrote into
	figures []figure // in the order of the line
}

var summaries = map[string]summary{
	"cli": {title: "CLI", folder: "bin/cli", figures: []figure{
		{name: "commands", part: "examples", holds: atLeast(1), wanted: "at least 1"},
		{name: "examples_run", part: "examples", holds: func(v value, all map[string]value) bool {
			return v.n >= all["commands"].n
		}, wanted: "as many as there are commands: each has an example"},
		{name: "render_equal", part: "render", holds: whole, wanted: "all: what the command renders is what the operator applies"},
		{name: "lint_rules", part: "lint", holds: atLeast(1), wanted: "at least 1"},
		{name: "adopted", part: "adoption", holds: atLeast(4), wanted: "at least 4: what was applied, what Helm installed, what has all kinds, and a StatefulSet"},
		{name: "restarted", part: "adoption", holds: zero, wanted: "0: no pod of what is adopted"},
	}},
	"security": {title: "SECURITY", folder: "bin/security", figures: []figure{
		{name: "injections", part: "input", holds: atLeast(500), wanted: "at least 500"},
		{name: "changed", part: "input", holds: zero, wanted: "0: a text became something else than text"},
		{name: "vectors", part: "vectors", holds: atLeast(30), wanted: "at least 30"},
		{name: "blocked", part: "vectors", holds: func(v value, all map[string]value) bool {
			return v.n == all["vectors"].n
		}, wanted: "as many as there are vectors"},
		{name: "unused_rights", part: "rights", holds: zero, wanted: "0: unused rights are not granted"},
		{name: "forbidden", part: "rights", holds: zero, wanted: "0: what the operator asks for is granted"},
	}},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 || summaries[args[0]].title == "" {
		return fmt.Errorf("cannot sum up %q: it is cli or security", args)
	}
	wanted := summaries[args[0]]
	line, err := wanted.sum(os.DirFS(wanted.folder))
	fmt.Println(line)
	return err
}

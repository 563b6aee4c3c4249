package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/example/appservice-operator/tools/figures"
)

func TestSum(t *testing.T) {
	cases := map[string]struct{ examples, render, lint, adoption, want, err string }{
		"all is well": {
			"commands=16 examples_run=40", "render_equal=42/42", "lint_rules=20", "adopted=4 restarted=0",
			"CLI commands=16 examples_run=40 render_equal=42/42 lint_rules=20 adopted=4 restarted=0", "",
		},
		"a sample is rendered otherwise": {
			"commands=16 examples_run=40", "render_equal=41/42", "lint_rules=20", "adopted=4 restarted=0",
			"CLI commands=16 examples_run=40 render_equal=41/42 lint_rules=20 adopted=4 restarted=0", "render_equal is 41/42",
		},
		"nothing is rendered": {
			"commands=16 examples_run=40", "render_equal=0/0", "lint_rules=20", "adopted=4 restarted=0",
			"CLI commands=16 examples_run=40 render_equal=0/0 lint_rules=20 adopted=4 restarted=0", "render_equal is 0/0",
		},
		"a command has no example": {
			"commands=16 examples_run=15", "render_equal=42/42", "lint_rules=20", "adopted=4 restarted=0",
			"CLI commands=16 examples_run=15 render_equal=42/42 lint_rules=20 adopted=4 restarted=0", "examples_run is 15",
		},
		"a pod restarted": {
			"commands=16 examples_run=40", "render_equal=42/42", "lint_rules=20", "adopted=4 restarted=1",
			"CLI commands=16 examples_run=40 render_equal=42/42 lint_rules=20 adopted=4 restarted=1", "restarted is 1",
		},
		"a setup was not adopted": {
			"commands=16 examples_run=40", "render_equal=42/42", "lint_rules=20", "adopted=3 restarted=0",
			"CLI commands=16 examples_run=40 render_equal=42/42 lint_rules=20 adopted=3 restarted=0", "adopted is 3",
		},
		"a part is missing": {
			"commands=16 examples_run=40", "render_equal=42/42", "", "adopted=4 restarted=0",
			"CLI commands=16 examples_run=40 render_equal=42/42 lint_rules=? adopted=4 restarted=0", "the part lint left no figures",
		},
		"what is no figure": {
			"commands=16 examples_run=40", "render_equal=42/all", "lint_rules=20", "adopted=4 restarted=0",
			"CLI commands=16 examples_run=40 render_equal=? lint_rules=20 adopted=4 restarted=0", `"render_equal=42/all"`,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			folder := fstest.MapFS{}
			for part, text := range map[string]string{"examples": test.examples, "render": test.render, "lint": test.lint, "adoption": test.adoption} {
				if text != "" {
					folder[part] = &fstest.MapFile{Data: []byte(text + "\n")}
				}
			}
			summary, err := figures.Sum(folder, "CLI", wanted)
			if summary != test.want {
				t.Errorf("got  %s\nwant %s", summary, test.want)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want one with %q", err, test.err)
			}
		})
	}
}

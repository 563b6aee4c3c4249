package main

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestSum(t *testing.T) {
	type outcome struct {
		parts     []string // what each left, in the order of the summary; a part that is empty left nothing
		want, err string
	}
	cases := map[string]map[string]outcome{
		"cli": {
			"all is well": {
				[]string{"commands=16 examples_run=40", "render_equal=42/42", "lint_rules=20", "adopted=4 restarted=0"},
				"CLI commands=16 examples_run=40 render_equal=42/42 lint_rules=20 adopted=4 restarted=0", "",
			},
			"a sample is rendered otherwise": {
				[]string{"commands=16 examples_run=40", "render_equal=41/42", "lint_rules=20", "adopted=4 restarted=0"},
				"CLI commands=16 examples_run=40 render_equal=41/42 lint_rules=20 adopted=4 restarted=0", "render_equal is 41/42",
			},
			"nothing is rendered": {
				[]string{"commands=16 examples_run=40", "render_equal=0/0", "lint_rules=20", "adopted=4 restarted=0"},
				"CLI commands=16 examples_run=40 render_equal=0/0 lint_rules=20 adopted=4 restarted=0", "render_equal is 0/0",
			},
			"a command has no example": {
				[]string{"commands=16 examples_run=15", "render_equal=42/42", "lint_rules=20", "adopted=4 restarted=0"},
				"CLI commands=16 examples_run=15 render_equal=42/42 lint_rules=20 adopted=4 restarted=0", "examples_run is 15",
			},
			"a pod restarted": {
				[]string{"commands=16 examples_run=40", "render_equal=42/42", "lint_rules=20", "adopted=4 restarted=1"},
				"CLI commands=16 examples_run=40 render_equal=42/42 lint_rules=20 adopted=4 restarted=1", "restarted is 1",
			},
			"a setup was not adopted": {
				[]string{"commands=16 examples_run=40", "render_equal=42/42", "lint_rules=20", "adopted=3 restarted=0"},
				"CLI commands=16 examples_run=40 render_equal=42/42 lint_rules=20 adopted=3 restarted=0", "adopted is 3",
			},
			"a part is missing": {
				[]string{"commands=16 examples_run=40", "render_equal=42/42", "", "adopted=4 restarted=0"},
				"CLI commands=16 examples_run=40 render_equal=42/42 lint_rules=? adopted=4 restarted=0", "the part lint left no figures",
			},
			"what is not a figure": {
				[]string{"commands=16 examples_run=40", "render_equal=42/all", "lint_rules=20", "adopted=4 restarted=0"},
				"CLI commands=16 examples_run=40 render_equal=? lint_rules=20 adopted=4 restarted=0", `"render_equal=42/all"`,
			},
		},
		"security": {
			"all is well": {
				[]string{"injections=600 changed=0", "vectors=40 blocked=40", "unused_rights=0 forbidden=0"},
				"SECURITY injections=600 changed=0 vectors=40 blocked=40 unused_rights=0 forbidden=0", "",
			},
			"a part is missing": {
				[]string{"injections=600 changed=0", "vectors=40 blocked=40", ""},
				"SECURITY injections=600 changed=0 vectors=40 blocked=40 unused_rights=? forbidden=?", "the part rights left no figures",
			},
			"a figure is missing": {
				[]string{"injections=600", "vectors=40 blocked=40", "unused_rights=0 forbidden=0"},
				"SECURITY injections=600 changed=? vectors=40 blocked=40 unused_rights=0 forbidden=0", "input has no figure changed",
			},
			"a vector comes through": {
				[]string{"injections=600 changed=0", "vectors=40 blocked=39", "unused_rights=0 forbidden=0"},
				"SECURITY injections=600 changed=0 vectors=40 blocked=39 unused_rights=0 forbidden=0", "blocked is 39",
			},
			"too little was tried": {
				[]string{"injections=4 changed=0", "vectors=40 blocked=40", "unused_rights=0 forbidden=0"},
				"SECURITY injections=4 changed=0 vectors=40 blocked=40 unused_rights=0 forbidden=0", "injections is 4 and has to be at least 500",
			},
			"what is not a figure": {
				[]string{"injections=600 changed=none", "vectors=40 blocked=40", "unused_rights=0 forbidden=0"},
				"SECURITY injections=600 changed=? vectors=40 blocked=40 unused_rights=0 forbidden=0", `"changed=none"`,
			},
		},
	}
	for of, outcomes := range cases {
		var parts []string
		for _, figure := range summaries[of].figures {
			parts = append(parts, figure.part)
		}
		parts = slices.Compact(parts)
		for name, test := range outcomes {
			t.Run(of+"/"+name, func(t *testing.T) {
				folder := fstest.MapFS{}
				for i, text := range test.parts {
					if text != "" {
						folder[parts[i]] = &fstest.MapFile{Data: []byte(text + "\n")}
					}
				}
				line, err := summaries[of].sum(folder)
				if line != test.want {
					t.Errorf("got  %s\nwant %s", line, test.want)
				}
				if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
					t.Errorf("got error %v, want one with %q", err, test.err)
				}
			})
		}
	}
}

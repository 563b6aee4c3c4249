package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestSum(t *testing.T) {
	well := map[string]map[string]string{
		"cli": {
			"examples": "commands=16 examples_run=40", "lint": "lint_rules=20",
			"adoption": "adopted=4 restarted=0",
		},
		"security": {
			"input": "injections=600 changed=0", "vectors": "vectors=240 blocked=240 open=170",
		},
	}
	for _, test := range []struct{ of, part, text, line, err string }{
		{"cli", "", "", "CLI commands=16 examples_run=40 lint_rules=20 adopted=4 restarted=0", ""},
		{"cli", "examples", "commands=16 examples_run=15", " examples_run=15 ", "examples_run is 15"},
		{"cli", "adoption", "adopted=4 restarted=1", " restarted=1", "restarted is 1"},
		{"cli", "adoption", "adopted=3 restarted=0", " adopted=3 ", "adopted is 3"},
		{"security", "", "", "SECURITY injections=600 changed=0 vectors=240 blocked=240 open=170", ""},
		{"security", "vectors", "", " vectors=? blocked=? open=?", "the part vectors left no figures"},
		{"security", "input", "injections=600", " changed=? ", "input has no figure changed"},
		{"security", "input", "injections=600 changed=none", " changed=none ", `"changed=none"`},
		{"security", "input", "injections=4 changed=0", " injections=4 ", "injections is 4 and has to be at least 500"},
		{"security", "vectors", "vectors=240 blocked=239 open=170", " blocked=239 ", "blocked is 239"},
		{"demo", "", "", "", "it is cli or security"},
	} {
		t.Run(test.of+" "+test.part+" "+test.text, func(t *testing.T) {
			folder := fstest.MapFS{}
			for part, text := range well[test.of] {
				if part == test.part {
					text = test.text
				}
				if text != "" {
					folder[part] = &fstest.MapFile{Data: []byte(text + "\n")}
				}
			}
			line, err := sum(test.of, folder)
			if !strings.Contains(line, test.line) {
				t.Errorf("got %q, want %q in it", line, test.line)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want one with %q", err, test.err)
			}
		})
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWordingIsFoundInProseOnly(t *testing.T) {
	markdown := "# What it does\n\nNothing is put\nback. `put back`\n\n```sh\nput back\n```\nWhat is rendered? [x](#for-good)\n"
	code := "package a\n\n// A is put back\n// for good.\nvar A = \"goes on\" // goes on\n\n//go:embed for good\n// +default: for good\n"
	chart := "a: for good # it goes on\nb: '# for good'\n{{/* for\ngood */}}\n{{ for good }}\n"
	for _, test := range []struct {
		file, text string
		want       []string
	}{
		{"README.md", markdown, []string{"3: put back"}},
		{"CHANGELOG.md", "# C\n\n## 2\n\nput back\n\n## 1\n\nput back\n", []string{"5: put back"}},
		{"tools/a.go", code, []string{"3: put back", "4: for good", "5: goes on"}},
		{"internal/a_test.go", code, []string{"3: put back", "4: for good", "5: goes on"}},
		{"internal/a.go", code, []string{"3: put back", "4: for good", "5: goes on", "5: goes on", "7: for good", "8: for good"}},
		{"helm-charts/a/values.yaml", chart, []string{"1: goes on", "3: for good"}},
		{"config/samples/a.yaml", chart, nil},
	} {
		var got []string
		for _, f := range check(prose(test.file, []byte(test.text))) {
			got = append(got, f[:strings.LastIndex(f, ": ")])
		}
		assert.ElementsMatch(t, test.want, got, test.file)
	}
}

func TestRulesLeaveGoodEnglishAlone(t *testing.T) {
	for _, text := range []string{
		"What happens then?", "Each of which is one.", "Of course.", "The next step is to install it.", "Pods that end by themselves.",
		"The user wants it.", "It may be that there is no such object.", "It returns all of them, but in another order.",
	} {
		assert.Empty(t, check([]byte(text)), text)
	}
	for _, text := range []string{
		"What is rendered stays.", "The name of what is there.", "Objects of which one is new.", "Who writes it may read it.",
		"Of objects, only names are kept.", "The Secret is to be filled.", "The chart wants a value.", "It is nothing but data.",
		"No right is granted that is not used.",
	} {
		assert.NotEmpty(t, check([]byte(text)), text)
	}
}

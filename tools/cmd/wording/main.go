// Command wording checks the English of documents, comments, and the product's string literals and markers against the
// table of rules.go. It prints file:line: text: remedy for each finding, and then exits with 1.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/example/appservice-operator/tools/kinds"
)

// leftOut are records of their time, generated files, test data, and quotations of mistakes. So are charts that others
// wrote.
var leftOut = regexp.MustCompile(`^docs/(adr/|reference/|benchmarks\.md)|^config/chart/files/|(^|/)testdata/|^tools/cmd/wording/`)

func main() {
	files, err := exec.Command("git", append([]string{"ls-files", "--"}, os.Args[1:]...)...).Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	published, err := kinds.PublishedKinds(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	code := 0
	for _, file := range strings.Fields(string(files)) {
		others := slices.ContainsFunc(published, func(kind kinds.PublishedKind) bool { return strings.HasPrefix(file, kind.Chart+"/") })
		if others || leftOut.MatchString(file) {
			continue
		}
		content, _ := os.ReadFile(file) // git knows files that are deleted
		for _, found := range check(prose(file, content)) {
			fmt.Println(file + ":" + found)
			code = 1
		}
	}
	os.Exit(code)
}

// check returns the findings of the rules in a text as line: text: remedy.
func check(text []byte) (findings []string) {
	for _, rule := range rules {
		for _, at := range compile(rule.pattern).FindAllIndex(text, -1) {
			around := text[max(0, at[0]-15):min(len(text), at[1]+120)]
			if rule.unless == "" || !compile(rule.unless).Match(around) {
				found := strings.Join(strings.Fields(string(text[at[0]:at[1]])), " ")
				findings = append(findings, fmt.Sprintf("%d: %s: %s", 1+bytes.Count(text[:at[0]], []byte("\n")), found, rule.remedy))
			}
		}
	}
	return findings
}

// Command wording checks the English of documents, comments and messages against the table of rules.go. It prints
// file:line: text: remedy for each finding, and exits with 1 if there are any.
//
//	go run ./tools/cmd/wording [-messages] [-count] [FILE...]
//
// Without files, it reads all that git knows. Archives, generated files and test data are left out.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// leftOut are files that are not checked: records of their time, generated files, test data, and quotations of mistakes.
var leftOut = regexp.MustCompile(`^docs/(adr/|reference/|benchmarks\.md)|^config/chart/files/|(^|/)testdata/|^tools/cmd/wording/main_test\.go$`)

// notYet are pages that have findings still.
var notYet = regexp.MustCompile(`^(README|docs/app-developers|docs/recipes|docs/tutorial)\.md$`)

// A finding is a text that a rule does not allow.
type finding struct {
	line int
	text string
	rule int
}

func main() {
	messages := flag.Bool("messages", false, "check string literals and markers of Go code instead of comments and documents")
	count := flag.Bool("count", false, "print how often each rule is broken")
	flag.Parse()
	files, err := list(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	counts, found := make([]int, len(rules)), false
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // deleted, and git still knows it
		}
		for _, f := range check(prose(file, content, *messages)) {
			counts[f.rule]++
			found = true
			if !*count {
				fmt.Printf("%s:%d: %s: %s\n", file, f.line, f.text, rules[f.rule].remedy)
			}
		}
	}
	if *count {
		for i, rule := range rules {
			fmt.Printf("%5d  %s\n", counts[i], rule.pattern)
		}
	}
	if found {
		os.Exit(1)
	}
}

// list returns the paths of the files to check, from the repository's root.
func list(only []string) (files []string, err error) {
	output, err := exec.Command("git", append([]string{"ls-files", "-z", "--"}, only...)...).Output()
	for _, file := range strings.Split(string(output), "\x00") {
		if file != "" && !leftOut.MatchString(file) && (len(only) > 0 || !notYet.MatchString(file)) {
			files = append(files, file)
		}
	}
	return files, err
}

// check returns what the rules find in a text, by rule.
func check(text []byte) (findings []finding) {
	for i, rule := range compiled {
		for _, at := range rule.pattern.FindAllIndex(text, -1) {
			around := text[max(0, at[0]-15):min(len(text), at[1]+120)]
			if rule.unless != nil && rule.unless.Match(around) {
				continue
			}
			findings = append(findings, finding{
				line: 1 + bytes.Count(text[:at[0]], []byte("\n")),
				text: strings.Join(strings.Fields(string(text[at[0]:at[1]])), " "),
				rule: i,
			})
		}
	}
	return findings
}

package lint

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the table of docs/lint.md, and what it shows of broken charts")

const rulesPage = root + "/docs/lint.md"

var (
	shown    = regexp.MustCompile("(?s)```text\n.*?```\n")
	tabular  = regexp.MustCompile(`(?s)\| rule \|.*?\n\n`)
	sections = regexp.MustCompile(`(?m)^## (.+)\n`)
)

// The page of rules has a table of them, and a section for each, in the same order, which begins with why there is the
// rule, shows the findings of a chart that breaks it, and ends with the remedy.
func TestPage(t *testing.T) {
	content, err := os.ReadFile(rulesPage)
	require.NoError(t, err)
	got := string(content)
	var there, rules []string
	for _, found := range sections.FindAllStringSubmatch(got, -1) {
		there = append(there, found[1])
	}
	table := "| rule | breaks it |\n|---|---|\n"
	for _, rule := range Rules {
		rules = append(rules, rule.ID)
		level := ""
		if rule.Level == Warning {
			level = " (*warning*)"
		}
		table += fmt.Sprintf("| [%s](#%s) | %s%s |\n", rule.ID, rule.ID, rule.Title, level)
	}
	require.Equal(t, rules, there, "docs/lint.md has these sections")
	parts := sections.Split(got, -1)
	want := tabular.ReplaceAllLiteralString(parts[0], table+"\n")
	for at, rule := range Rules {
		want += "## " + rule.ID + "\n" + section(t, rule, parts[at+1])
	}
	if *update {
		require.NoError(t, os.WriteFile(rulesPage, []byte(want), 0o644))
		return
	}
	if got != want {
		t.Error("docs/lint.md is out of date: run make generate")
	}
}

// section returns the text of a section with the present findings.
func section(t *testing.T, rule Rule, text string) string {
	t.Helper()
	found := checked(t, "testdata/chart", filepath.Join("testdata/rules", rule.ID, "breaks"))
	around := shown.Split(text, -1)
	if len(around) != 2 || strings.TrimSpace(around[0]) == "" || strings.TrimSpace(around[1]) == "" {
		t.Errorf("the section of %s does not have a reason, one block of findings and a remedy", rule.ID)
	}
	return shown.ReplaceAllLiteralString(text, "```text\n"+strings.TrimRight(list(found), "\n")+"\n```\n")
}

// The link of a finding leads to the section of its rule.
func TestHelpLeadsToTheSection(t *testing.T) {
	require.Equal(t, "https://github.com/example/appservice-operator/blob/main/docs/lint.md#helm-hook", ruleOf("helm-hook").Help())
}

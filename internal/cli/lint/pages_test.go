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

var update = flag.Bool("update", false, "write the index of docs/lint, and what its pages show of broken charts")

const pages = root + "/docs/lint"

var shown = regexp.MustCompile("(?s)```text\n.*?```\n")

// Each rule has a page, which contains the findings of a chart that breaks the rule, and an entry in the index.
func TestPages(t *testing.T) {
	want := map[string]string{}
	index := "<!-- By make generate. -->\n# Rules for charts\n\n`kubectl appservice lint` and `make check-chart` check charts against these rules. A chart lists its " +
		"exceptions in `.lint.yaml`, each with\n`rule`, `about`, which is a part of the message, and `reason`. Add that file to `.helmignore`.\n\n" +
		"| rule | breaks it | level |\n|---|---|---|\n"
	for _, rule := range Rules {
		name := rule.ID + ".md"
		index += fmt.Sprintf("| [%s](%s) | %s | %s |\n", rule.ID, name, rule.Title, rule.Level)
		text, err := os.ReadFile(filepath.Join(pages, name))
		if err != nil {
			t.Error(err)
			continue
		}
		found := checked(t, "testdata/chart", filepath.Join("testdata/rules", rule.ID, "breaks"))
		want[name] = shown.ReplaceAllLiteralString(string(text), "```text\n"+strings.TrimRight(list(found), "\n")+"\n```\n")
		for _, part := range []string{"# " + rule.ID + "\n", "\n## Why\n", "\n## A chart that breaks it\n", "\n## Remedy\n"} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s has no %q", name, strings.TrimSpace(part))
			}
		}
	}
	want["README.md"] = index
	for name, text := range want {
		file := filepath.Join(pages, name)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%s is out of date (%v): run make generate", name, err)
		}
	}
	there, err := os.ReadDir(pages)
	if err != nil || len(there) != len(want) {
		t.Errorf("there are %d pages, error %v, want %d", len(there), err, len(want))
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// shipped are the files that a release publishes or is made of, and those that lead to it, as git's pathspecs.
var shipped = []string{
	"*Dockerfile", ".github/ISSUE_TEMPLATE", "Makefile", "README.md", "SECURITY.md", "bundle", "catalog", "config/chart",
	"config/grafana", "config/manifests", "config/olm", "config/prometheus", "docs", "mkdocs.yml", "test/testdata/v*/bundle/*", "tools/cmd/cli/krew.yaml",
}

// placeholders are what stands in these files before the first release, and what to write in their place. A
// module's path is none: it has no scheme.
var placeholders = []struct {
	pattern *regexp.Regexp
	write   string
}{
	{regexp.MustCompile(`https://github\.com/example\b`), "https://github.com/ACCOUNT"},
	{regexp.MustCompile(`\bghcr\.io/example\b`), "ghcr.io/ACCOUNT"},
	{regexp.MustCompile(`\bOWNER/(appservice-operator|charts)\b`), "the account for OWNER"},
	{regexp.MustCompile(`(^|[^.\w-])example\.com/appservice-operator`), "ghcr.io/ACCOUNT/appservice-operator"},
	{regexp.MustCompile(`^ +name: Example$`), "the name of who provides it"},
	{regexp.MustCompile(`\bmaintainers@example\.com`), "an address that is read"},
	{regexp.MustCompile(`^ARG \w+=[^@\s]+:[^@\s]+$`), "the image's digest, @sha256:…, behind its tag"},
}

// checkPlaceholders returns a line for each file of a repository that would be released with placeholders.
func checkPlaceholders(repository string) (found []string, err error) {
	paths, err := git(repository, append([]string{"ls-files", "--"}, shipped...)...)
	if err != nil {
		return nil, fmt.Errorf("cannot list the files that are released: %w", err)
	}
	for _, path := range paths {
		if info, err := os.Lstat(filepath.Join(repository, path)); err != nil || !info.Mode().IsRegular() {
			continue // a link leads to a file that is listed itself, and what is deleted is not released
		}
		text, err := os.ReadFile(filepath.Join(repository, path))
		if err != nil {
			return nil, err
		}
		if write := replacements(string(text)); len(write) > 0 {
			found = append(found, path+": write "+strings.Join(write, "; "))
		}
	}
	return found, nil
}

// replacements says what a text needs in place of its placeholders, and in which lines.
func replacements(text string) (write []string) {
	lines := strings.Split(text, "\n")
	for _, placeholder := range placeholders {
		var numbers []string
		for i, line := range lines {
			if placeholder.pattern.MatchString(line) {
				numbers = append(numbers, strconv.Itoa(i+1))
			}
		}
		if len(numbers) > 0 {
			write = append(write, placeholder.write+", line "+strings.Join(numbers, ", "))
		}
	}
	return write
}

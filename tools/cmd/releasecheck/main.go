// Command releasecheck fails if figures in documents are older than the code: if commits that change released files
// follow the commit that the figures are of; if a part of a long suite has not run with the code; and if files that are
// released have placeholders.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/example/appservice-operator/tools/suites"
)

// Released are the folders whose changes make figures stale.
var released = []string{"api", "cmd", "helm-charts", "internal"}

// measured is how a document names the commit that its figures are of.
var measured = regexp.MustCompile("[Ff]igures of commit `?([0-9a-f]{8,40})`?")

func main() {
	stale, err := check(".")
	missing, runsErr := suites.MissingRuns(".")
	unfilled, unfilledErr := checkPlaceholders(".")
	if err = errors.Join(err, runsErr, unfilledErr); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	if len(stale) > 0 {
		stale = append(stale, "measure again with make bench DOCS=1, and correct the pages by its results")
	}
	if len(missing) > 0 {
		stale = append(stale, "these have not run with this code, says test/long-runs.txt:\n  "+strings.Join(missing, "\n  "))
	}
	if len(unfilled) > 0 {
		stale = append(stale, "these would be released with placeholders:\n  "+strings.Join(unfilled, "\n  "))
	}
	if len(stale) > 0 {
		fmt.Fprintln(os.Stderr, strings.Join(stale, "\n"))
		os.Exit(1)
	}
}

// check returns a line for each document of a repository whose figures are older than its code.
func check(repository string) (stale []string, err error) {
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		paths, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			found, err := checkPage(repository, path)
			if err != nil {
				return nil, err
			}
			stale = append(stale, found...)
		}
	}
	return stale, nil
}

// checkPage does the same for one document.
func checkPage(repository, path string) (stale []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, found := range measured.FindAllStringSubmatch(string(text), -1) {
		later, err := commits(repository, found[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if later > 0 {
			stale = append(stale, fmt.Sprintf("%s: its figures are of commit %s; %d commits of %s follow it", path, found[1],
				later, strings.Join(released, ", ")))
		}
	}
	return stale, nil
}

// commits returns how many commits that change released files follow a commit.
func commits(repository, since string) (int, error) {
	list, err := git(repository, append([]string{"rev-list", "--no-merges", since + "..HEAD", "--"}, released...)...)
	if err != nil {
		return 0, fmt.Errorf("cannot list the commits since %s: %w", since, err)
	}
	return len(list), nil
}

// git returns what a command of git lists.
func git(repository string, args ...string) ([]string, error) {
	command := exec.Command("git", append([]string{"-C", repository}, args...)...)
	command.Stderr = os.Stderr
	list, err := command.Output()
	return strings.Fields(string(list)), err
}

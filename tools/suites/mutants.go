package suites

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/part"
)

// mutant is a change that takes a behavior away, and the test that notices.
type mutant struct {
	// Name says what is lost, and Commit, if it is set, which commit had mended it.
	Name, Commit string
	// File has the text Replace exactly once; With takes its place.
	File, Replace, With string
	// Killer is the test that fails then, as in "internal/operator/status TestSummarize/paused"; "none" if there is none, for a Reason.
	Killer, Reason string
}

// unkilled is the killer of mutants that no test notices.
const unkilled = "none"

// mutants applies the changes of the files in test/mutants one at a time to a copy of the repository, and runs the killer,
// which has to fail, and to pass without any change.
func mutants(r *runner) error {
	all, err := chosenMutants(filepath.Join(r.root, "test/mutants"))
	if err != nil {
		return err
	}
	root, remove, err := r.copied()
	if err != nil {
		return err
	}
	defer remove()
	m := &mutation{runner: &runner{ctx: r.ctx, root: root}}
	packages := map[string][]string{}
	for _, each := range all {
		if folder, test, found := strings.Cut(each.Killer, " "); found && !slices.Contains(packages[folder], test) {
			packages[folder] = append(packages[folder], test)
		}
	}
	for _, each := range all {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		folder, _, _ := strings.Cut(each.Killer, " ")
		if names := packages[folder]; len(names) > 0 { // before the first of its mutants
			m.pass(folder, names)
			packages[folder] = nil
		}
		m.kill(each)
	}
	r.outcome.figures = fmt.Sprintf(" MUTANTS entries=%d killed=%d survived=%d unkilled=%d wrong=%d", len(all), m.killed, m.survived, m.unkilled, m.wrong)
	fmt.Println(r.outcome.figures[1:])
	if m.survived+m.wrong > 0 || len(all) == 0 {
		return errors.New("not each mutant is killed by its test")
	}
	return nil
}

// chosenMutants reads the lists in a folder: MUTANTS names one, NAME is a part of the names, and PART=2/3 a share of all.
func chosenMutants(folder string) (chosen []mutant, err error) {
	files, err := filepath.Glob(filepath.Join(folder, parameter("MUTANTS", "m*")+".yaml"))
	for _, file := range files {
		text, readErr := os.ReadFile(file)
		var list []mutant
		if err = errors.Join(err, readErr, yaml.UnmarshalStrict(text, &list)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		chosen = append(chosen, list...)
	}
	at := 0
	chosen = slices.DeleteFunc(chosen, func(m mutant) bool {
		at++
		return !strings.Contains(m.Name, os.Getenv("NAME")) || !part.Has(at)
	})
	slices.SortStableFunc(chosen, func(a, b mutant) int { return cmp.Compare(a.Killer, b.Killer) })
	return chosen, err
}

// copied returns a copy of the repository with the changes that are not committed yet; new files have to be in the index.
func (r *runner) copied() (root string, remove func(), err error) {
	folder, err := os.MkdirTemp("", "appservice-mutants-")
	if err != nil {
		return "", nil, err
	}
	root = filepath.Join(folder, "repository")
	remove = func() {
		_, _ = git(r.root, "worktree", "remove", "--force", root)
		_ = os.RemoveAll(folder)
	}
	changed, err := git(r.root, "-c", "user.name=mutants", "-c", "user.email=mutants@localhost", "stash", "create")
	if err == nil {
		_, err = git(r.root, "worktree", "add", "--quiet", "--detach", root, cmp.Or(changed, "HEAD"))
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("cannot copy the repository: %w", err)
	}
	return root, remove, nil
}

// mutation counts how mutants end in a copy of a repository.
type mutation struct {
	*runner
	killed, survived, unkilled, wrong int
}

// test runs tests of a folder, each as TEST or TEST/CASE. Built is false if they do not compile.
func (m *mutation) test(folder string, names ...string) (output string, built bool, err error) {
	patterns := make([]string, 0, len(names))
	for _, name := range names {
		patterns = append(patterns, "^"+strings.ReplaceAll(name, "/", "$/^")+"$")
	}
	args := words("go test -tags=cluster -ldflags=-w -vet=off -count=1 -v -parallel=8 -timeout=10m -run=" + strings.Join(patterns, "|") + " ./" + folder)
	out, err := m.command(command{args: args, env: words("PART=")}).CombinedOutput()
	return string(out), !strings.Contains(string(out), " failed]\n"), err // [build failed], [setup failed]
}

// pass reports killers that do not pass without a change.
func (m *mutation) pass(folder string, names []string) {
	began := time.Now()
	output, _, err := m.test(folder, names...)
	for _, name := range names {
		if err == nil && !strings.Contains(output, "--- PASS: "+name+" ") {
			err = fmt.Errorf("%s did not run", name)
		}
	}
	if err != nil {
		m.wrong++
		fmt.Printf("%s\nWRONG    without a change, %s: %v\n", output, folder, err)
		return
	}
	fmt.Printf("green    %5.1f s  %s: %d killers\n", time.Since(began).Seconds(), folder, len(names))
}

// kill applies a mutant, runs its killer, and takes the mutant away.
func (m *mutation) kill(each mutant) {
	began, file := time.Now(), filepath.Join(m.root, each.File)
	say := func(count *int, outcome string) {
		*count++
		fmt.Printf("%-8s %5.1f s  %s: %s (%s)\n", outcome, time.Since(began).Seconds(), each.File, each.Name, each.Killer)
	}
	text, err := os.ReadFile(file)
	if err != nil || each.Replace == "" || strings.Count(string(text), each.Replace) != 1 {
		say(&m.wrong, "NO MATCH")
		return
	}
	err = os.WriteFile(file, []byte(strings.Replace(string(text), each.Replace, each.With, 1)), 0o600)
	defer func() {
		if os.WriteFile(file, text, 0o600) != nil {
			m.wrong++
		}
	}()
	folder, test, _ := strings.Cut(each.Killer, " ")
	output, built := "", err == nil
	switch {
	case each.Killer == unkilled && strings.HasSuffix(each.File, ".go"):
		_, built, err = m.test(path.Dir(each.File), "-")
	case each.Killer != unkilled && built:
		output, built, err = m.test(folder, test)
	}
	top, _, _ := strings.Cut(test, "/")
	switch {
	case !built:
		say(&m.wrong, "NO BUILD")
	case each.Killer == unkilled && each.Reason != "":
		say(&m.unkilled, unkilled)
	case err != nil && (strings.Contains(output, "--- FAIL: "+top+" ") || strings.Contains(output, "\npanic: ")):
		say(&m.killed, "killed")
	default:
		say(&m.survived, "SURVIVED")
	}
}

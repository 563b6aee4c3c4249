package suites

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/example/appservice-operator/tools/part"
)

const (
	// longRuns has a line for each run of a long suite, or of a part of one, that ended well: date, suite, part, commit, figures.
	longRuns = "test/long-runs.txt"
	// narrowing are the variables with which a suite is another than a release needs.
	narrowing = "CLUSTER DEPTH FAULTFLAGS KUBERNETES_VERSION MUTANTS N NAME PAIRFLAGS PLAN SHAPE TESTFLAGS VECTORFLAGS WALKS"
	// decisive is all that a run depends on, tests excepted.
	decisive = "api cmd config helm-charts internal go.mod"
)

type longSuite struct {
	suite string
	parts int    // each takes less than an hour on two cores
	with  string // its variables
}

// long are the suites that a release needs and that take too long for make ci.
var long = []longSuite{
	{"faults", 4, ""}, {"pairs", 7, ""}, {"faults-stock", 1, ""}, {"walks", 3, ""}, {"model", 8, "DEPTH=4"}, {"unit-race", 1, ""}, {"integration", 1, ""},
	{"injection", 1, ""}, {"vectors", 1, ""}, {"mutants", 3, ""}, {"size", 3, ""},
}

// longRun returns the beginning of the line for a run that begins now; empty if it is not one that a release needs.
func (r *runner) longRun(suite string) (line string, err error) {
	number, parts, err := part.Of()
	if err != nil {
		return "", err
	}
	var with []string
	for _, name := range words(narrowing) {
		if value := os.Getenv(name); value != "" {
			with = append(with, name+"="+value)
		}
	}
	i := slices.IndexFunc(long, func(l longSuite) bool { return l.suite == suite })
	switch {
	case parts > 1 && (i < 0 || long[i].parts == 1):
		return "", fmt.Errorf("PART is set, and %s has no parts", suite)
	case i < 0 || parts > 1 && parts != long[i].parts || strings.Join(with, " ") != long[i].with:
		return "", nil
	}
	commit, err := git(r.root, "rev-parse", "--short=8", "HEAD")
	if err != nil {
		return "", err
	}
	changed, err := git(r.root, "status", "--porcelain", "--", ".", ":(exclude)"+longRuns)
	if changed != "" {
		commit += "-dirty"
	}
	return fmt.Sprintf("%s %s %d/%d %s", time.Now().Format(time.DateOnly), suite, number, parts, commit), err
}

// record appends a line to the file.
func (r *runner) record(line string) error {
	file, err := os.OpenFile(filepath.Join(r.root, longRuns), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, line)
	return errors.Join(err, file.Close())
}

// MissingRuns lists the commands for the parts of long suites that have not run with the code of HEAD.
func MissingRuns(root string) (missing []string, err error) {
	text, err := os.ReadFile(filepath.Join(root, longRuns))
	if err != nil {
		return nil, err
	}
	done := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if is := strings.Fields(line); len(is) > 3 { // a commit that is not there, or is dirty, differs
			_, differs := git(root, append([]string{"diff", "--quiet", is[3], "HEAD", "--"}, words(decisive)...)...)
			done[is[1]+" "+is[2]] = done[is[1]+" "+is[2]] || differs == nil
		}
	}
	for _, each := range long {
		for i := range each.parts {
			if share := fmt.Sprintf("%d/%d", i+1, each.parts); !done[each.suite+" "+share] && !done[each.suite+" 1/1"] {
				missing = append(missing, strings.Join(strings.Fields("make test-"+each.suite+" PART="+share+" "+each.with), " "))
			}
		}
	}
	return missing, nil
}

func git(root string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

package suites

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/tools/toolchain"
)

func TestEachPartIsASuiteAndRunsOnce(t *testing.T) {
	for _, suite := range All() {
		list, err := parts(suite.Name)
		require.NoError(t, err)
		if len(list) == 0 {
			t.Errorf("%s runs nothing", suite.Name)
		}
	}
	list, err := parts("test", "check", "unit")
	require.NoError(t, err)
	var names []string
	for _, suite := range list {
		names = append(names, suite.Name)
	}
	want := []string{"unit", "contract", "cli", "scenarios", "integration-plain", "chart", "charts-sample", "alerts", "injection",
		"vectors", "security", "controlplane", "integration-sample", "faults-sample", "walk"}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if _, err := parts("none"); err == nil {
		t.Error("a suite that is not there has no error")
	}
}

// A step that fails ends its suite, and not the others.
func TestOtherSuitesRunAfterAFailure(t *testing.T) {
	var ran []string
	does := func(name string, err error) step {
		return function(func(*runner) error {
			ran = append(ran, name)
			return err
		})
	}
	broken := errors.New("broken")
	err := runAll(&runner{ctx: t.Context()}, []Suite{
		{Name: "one", steps: []step{does("first", broken), does("second", nil)}},
		{Name: "two", steps: []step{does("third", nil)}},
	})
	if !errors.Is(err, broken) || !strings.HasPrefix(fmt.Sprint(err), "one: ") {
		t.Errorf("got the error %v", err)
	}
	if want := []string{"first", "third"}; !slices.Equal(ran, want) {
		t.Errorf("%v ran, want %v", ran, want)
	}
}

// The time to compile the tests and the names of those that failed are kept, whether or not all output is shown.
func TestAPartIsTimedAndItsFailuresAreKept(t *testing.T) {
	root, err := toolchain.Root()
	require.NoError(t, err)
	module := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":    "module example.com/tests\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestGood(*testing.T) {}\n\nfunc TestBad(t *testing.T) { t.Error(\"bad\") }\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(module, name), []byte(content), 0o600))
	}
	relative, err := filepath.Rel(root, module)
	require.NoError(t, err)
	for _, verbose := range []bool{false, true} {
		r := &runner{ctx: t.Context(), root: root}
		done := r.part(Suite{Name: "a", steps: []step{goTest{module: relative, args: ".", verbose: verbose}}})
		require.ErrorContains(t, done.err, "gotestsum")
		require.NotZero(t, done.compiled)
		require.Less(t, done.compiled, done.took)
		require.Equal(t, []string{"FAIL TestBad: a_test.go:7: bad"}, r.outcome.failed)
	}
}

func TestNothingRunsAfterAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := function(func(*runner) error { t.Error("it runs"); return nil })
	if err := runAll(&runner{ctx: ctx}, []Suite{{Name: "one", steps: []step{never}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v", err)
	}
}

func TestFlagsAreQuotedAsInAShell(t *testing.T) {
	t.Setenv("SOMEFLAGS", `-run='A|B c' -v`)
	r := &runner{ctx: t.Context(), root: t.TempDir()}
	process := r.command(command{args: []string{"printf", "[%s]", "x"}, flags: "SOMEFLAGS"})
	out, err := process.Output()
	require.NoError(t, err)
	if got, want := string(out), "[x][-run=A|B c][-v]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A part of a name that no test has any more would leave tests out without a word.
func TestEachPartOfTheSampleIsInANameOfATest(t *testing.T) {
	files, err := filepath.Glob("../../test/integration/*_test.go")
	require.NoError(t, err)
	var all []byte
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		all = append(all, source...)
	}
	for part := range strings.SplitSeq(atOnce, "|") {
		if !regexp.MustCompile(`(?m)^func Test\w*` + part).Match(all) {
			t.Errorf("no integration test has %s in its name", part)
		}
	}
}

package suites

import (
	"cmp"
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
		all, err := lanesOf(suite.Name)
		require.NoError(t, err)
		require.NotEmpty(t, append(all.inTurn, all.beside...), suite.Name)
	}
	all, err := lanesOf("test", "check", "unit")
	require.NoError(t, err)
	require.Equal(t, "unit, contract, cli, scenarios, chart, alerts, injection, vectors, security, controlplane, walk", namesOf(all.inTurn))
	require.Equal(t, "integration-plain, integration-sample, faults-sample", namesOf(all.beside))
	_, err = lanesOf("none")
	require.ErrorContains(t, err, `there is no suite "none"`)
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
	err := runAll(&runner{ctx: t.Context(), out: os.Stdout}, lanes{inTurn: []Suite{
		{Name: "one", steps: []step{does("first", broken), does("second", nil)}},
		{Name: "two", steps: []step{does("third", nil)}},
	}})
	if !errors.Is(err, broken) || !strings.HasPrefix(fmt.Sprint(err), "one: ") {
		t.Errorf("got the error %v", err)
	}
	if want := []string{"first", "third"}; !slices.Equal(ran, want) {
		t.Errorf("%v ran, want %v", ran, want)
	}
}

// A suite beside others runs while they do. Its output is shown after theirs, and its failures count.
func TestSuitesBesideOthers(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	others, those := make(chan bool), make(chan bool)
	broken := errors.New("broken")
	meets := func(arrives, other chan bool, err error) []step {
		return []step{function(func(r *runner) error {
			close(arrives)
			<-other
			r.outcome.failed = append(r.outcome.failed, "FAIL of "+filepath.Base(r.out.Name())[:3])
			return cmp.Or(command{args: words("echo printed")}.run(r), err)
		})}
	}
	err = runAll(&runner{ctx: t.Context(), out: out, root: t.TempDir()}, lanes{
		inTurn: []Suite{{Name: "one", steps: meets(others, those, nil)}, {Name: "two"}},
		beside: []Suite{{Name: "three", steps: meets(those, others, broken)}}})
	require.ErrorIs(t, err, broken)
	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.Regexp(t, "(?s)^three at the same time.*==> one.*printed.*one took.*==> two.*==> three.*printed.*three: broken.*"+
		"one .* ok\ntwo .* ok\nthree .* failed: three: broken\nall .*FAIL of out\nFAIL of app\n$", string(text))
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
		r := &runner{ctx: t.Context(), root: root, out: os.Stdout}
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
	if err := runAll(&runner{ctx: ctx, out: os.Stdout}, lanes{inTurn: []Suite{{Name: "one", steps: []step{never}}}}); !errors.Is(err, context.Canceled) {
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

package suites

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALongRunCountsUntilTheCodeChanges(t *testing.T) {
	r := &runner{ctx: t.Context(), root: t.TempDir()}
	_, err := git(r.root, "init", "--quiet")
	commit := func(file, text string) {
		path := filepath.Join(r.root, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		for _, args := range []string{"add .", "-c user.name=x -c user.email=x@localhost commit --quiet --message=x"} {
			_, err := git(r.root, words(args)...)
			require.NoError(t, err)
		}
	}
	require.NoError(t, err)
	commit("internal/a.go", "1")
	commit(longRuns, "# a comment\n")
	missing := func() []string {
		list, err := MissingRuns(r.root)
		require.NoError(t, err)
		return list
	}
	all := missing()
	require.Contains(t, all, "make test-model PART=8/8 DEPTH=4")
	run := func(suite, share, plan string) error {
		t.Setenv("PART", share)
		t.Setenv("PLAN", plan)
		return r.part(Suite{Name: suite, steps: []step{function(func(r *runner) error {
			r.outcome.figures = " FAULTS plans=3 failed=0"
			return nil
		})}}).err
	}
	require.NoError(t, run("faults", "2/4", ""))
	require.NoError(t, run("faults", "3/4", "T1")) // not all plans of the part
	require.NoError(t, run("faults", "3/5", ""))   // parts of another size
	require.ErrorContains(t, run("unit-race", "1/2", ""), "has no parts")
	require.Len(t, missing(), len(all)-1)
	require.NotContains(t, missing(), "make test-faults PART=2/4")
	text, err := os.ReadFile(filepath.Join(r.root, longRuns))
	require.NoError(t, err)
	require.Regexp(t, `\n\d{4}-\d\d-\d\d faults 2/4 [0-9a-f]{8} FAULTS plans=3 failed=0\n$`, string(text))

	commit("docs/a.md", "1")
	require.Len(t, missing(), len(all)-1, "documents do not matter")
	commit("internal/a.go", "2")
	require.Equal(t, all, missing())
	require.NoError(t, os.WriteFile(filepath.Join(r.root, "internal/a.go"), []byte("3"), 0o600))
	require.NoError(t, run("faults", "", ""))
	require.Equal(t, all, missing(), "the code was not committed")
}

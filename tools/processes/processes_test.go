package processes

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	got := parse("  17 /cache/clusters/test/bin/etcd --name=node0\n1 init\nheader\n")
	if len(got) != 2 || got[17] != "/cache/clusters/test/bin/etcd --name=node0" || got[1] != "init" {
		t.Errorf("got %v", got)
	}
}

func TestEndLeavesOtherFoldersAlone(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err) // coreutils are asked for
	}
	start := func(dir string) {
		t.Helper()
		program := filepath.Join(dir, "bin", "sleeper")
		require.NoError(t, os.MkdirAll(filepath.Dir(program), 0o755))
		require.NoError(t, os.Symlink(sleep, program))
		child, err := Start(exec.Command(program, "60"))
		require.NoError(t, err)
		t.Cleanup(child.Kill)
	}
	expect := func(dir string, want int) {
		t.Helper()
		if got, err := Of(t.Context(), dir); err != nil || len(got["sleeper"]) != want {
			t.Errorf("got processes %v (error %v), want %d", got, err, want)
		}
	}
	mine, other := t.TempDir(), t.TempDir()
	start(mine)
	start(other)
	expect(mine, 1)
	require.NoError(t, End(t.Context(), mine))
	expect(mine, 0)
	expect(other, 1)
}

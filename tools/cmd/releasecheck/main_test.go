package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFiguresOlderThanTheCodeAreFound(t *testing.T) {
	t.Parallel()
	repository := t.TempDir()
	run(t, repository, "init", "--quiet")
	commit(t, repository, "internal/a.go", "1")
	first := run(t, repository, "rev-parse", "HEAD")
	commit(t, repository, "docs/old.md", "Figures of commit `"+first[:10]+"`.")
	stale, err := check(repository)
	require.NoError(t, err)
	assert.Empty(t, stale, "documents do not make figures stale")

	commit(t, repository, "internal/a.go", "2")
	commit(t, repository, "docs/new.md", "figures of commit "+run(t, repository, "rev-parse", "HEAD"))
	stale, err = check(repository)
	require.NoError(t, err)
	require.Len(t, stale, 1)
	assert.Contains(t, stale[0], "docs/old.md: its figures are of commit "+first[:10]+"; 1 commits")
}

func TestACommitThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	repository := t.TempDir()
	run(t, repository, "init", "--quiet")
	commit(t, repository, "README.md", "figures of commit 0123456789abcdef")
	_, err := check(repository)
	assert.ErrorContains(t, err, "README.md: cannot list the commits since 0123456789abcdef")
}

func commit(t *testing.T, repository, path, text string) {
	t.Helper()
	path = filepath.Join(repository, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	run(t, repository, "add", "--all")
	run(t, repository, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message=x")
}

func run(t *testing.T, repository string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", repository}, args...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

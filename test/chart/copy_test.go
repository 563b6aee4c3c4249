//go:build cluster

package chart

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/files"
)

// repository is a copy of the repository as it is, all of it committed, for a test to work in as a maintainer does.
type repository struct{ dir string }

// copyOfRepository copies what git knows, or would know, of the working tree.
func copyOfRepository(t *testing.T) repository {
	t.Helper()
	root := files.Root(t)
	listed, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	require.NoError(t, err, "git cannot list the files of the repository")
	r := repository{t.TempDir()}
	for _, name := range strings.Split(strings.TrimRight(string(listed), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(root, name), filepath.Join(r.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	r.run(t, "git init --quiet && git add --all && git -c user.name=test -c user.email=test@example.com commit --quiet --message=before")
	return r
}

func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm())
}

// try runs a command of the shell and returns what it prints, both ways.
func (r repository) try(t *testing.T, command string, environment ...string) (string, error) {
	t.Helper()
	return r.shell(t.Context(), command, environment...)
}

func (r repository) shell(ctx context.Context, command string, environment ...string) (string, error) {
	shell := exec.CommandContext(ctx, "sh", "-c", command)
	shell.Dir = r.dir
	shell.Env = append(r.environment(), environment...)
	var output bytes.Buffer
	shell.Stdout, shell.Stderr = &output, &output
	err := shell.Run()
	return output.String(), err
}

// environment is that of the test, without the variables that make sets for its children.
func (r repository) environment() []string {
	kept := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "CLUSTER", "CHARTFLAGS"}, name)
	})
	return append(kept, "PWD="+r.dir)
}

// run runs a command of the shell that has to succeed.
func (r repository) run(t *testing.T, command string) string {
	t.Helper()
	output, err := r.try(t, command)
	require.NoError(t, err, "%s: %v\n%s", command, err, output)
	return output
}

func (r repository) path(name string) string { return filepath.Join(r.dir, name) }

// has tests that files have all that is wanted of each.
func (r repository) has(t *testing.T, wanted map[string][]string) {
	t.Helper()
	for file, want := range wanted {
		for _, part := range want {
			assert.Contains(t, r.read(t, file), part, "%s lacks %q", file, part)
		}
	}
}

// neededNoGo tests that no Go has changed.
func (r repository) neededNoGo(t *testing.T) {
	t.Helper()
	changed := r.changed(t)
	if at := slices.IndexFunc(changed, func(file string) bool { return strings.HasSuffix(file, ".go") }); at >= 0 {
		t.Errorf("%s has changed: Go was needed", changed[at])
	}
}

func (r repository) read(t *testing.T, name string) string {
	t.Helper()
	return string(files.Text(t, r.path(name)))
}

func (r repository) write(t *testing.T, name, text string) {
	t.Helper()
	files.Write(t, r.path(name), text)
}

// add writes a file. The fields of a fields.yaml join those that the chart has already: a maintainer of charts, whose
// working tree was copied, may have declared some.
func (r repository) add(t *testing.T, name, text string) {
	t.Helper()
	if _, err := os.Stat(r.path(name)); err == nil && path.Base(name) == "fields.yaml" {
		both, more := map[string]any{}, map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(r.read(t, name)), &both))
		require.NoError(t, yaml.Unmarshal([]byte(text), &more))
		merged, err := yaml.Marshal(chartutil.CoalesceTables(more, both))
		require.NoError(t, err)
		text = string(merged)
	}
	r.write(t, name, text)
}

// changed lists the files that differ from those of the copy when it was made, by name.
func (r repository) changed(t *testing.T) []string {
	t.Helper()
	return strings.Fields(r.run(t, "git add --all --intent-to-add && git diff --name-only HEAD"))
}

func TestFieldsJoinThoseOfAMaintainer(t *testing.T) {
	r := repository{t.TempDir()}
	r.add(t, "helm-charts/a/fields.yaml", "fields: {maintenance: {type: object}}\n")
	r.add(t, "helm-charts/a/fields.yaml", "fields: {topology: {type: object}}\n")
	assert.YAMLEq(t, "fields: {maintenance: {type: object}, topology: {type: object}}", r.read(t, "helm-charts/a/fields.yaml"))
}

func TestTheCopyIsTheRepository(t *testing.T) {
	r := copyOfRepository(t)
	assert.Empty(t, r.changed(t), "the copy differs from its commit")
	r.write(t, "helm-charts/appservice/templates/more.yaml", "# nothing\n")
	assert.EqualValues(t, "helm-charts/appservice/templates/more.yaml", strings.Join(r.changed(t), " "))
	assert.Contains(t, r.run(t, "go list -m"), "appservice-operator", "it is not a module")
}

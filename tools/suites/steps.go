package suites

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/toolchain"
)

// inRoot stands for the folder of the repository in variables of steps.
const inRoot = "{repository}"

// words are those of a line without quotes.
func words(line string) []string { return strings.Fields(line) }

// command is a program that runs in the repository, or in a folder of it.
type command struct {
	args   []string
	flags  string // the variable with more arguments, quoted as in a shell
	env    []string
	folder string
	race   bool
}

func (c command) run(r *runner) error {
	process := r.command(c)
	process.Stdout, process.Stderr = &r.failed, os.Stderr
	if err := process.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(c.args, " "), err)
	}
	return nil
}

// command prepares the process. A shell reads the additional arguments: so quotes in them mean what they mean in a
// recipe of make.
func (r *runner) command(c command) *exec.Cmd {
	args := c.args
	if flags := os.Getenv(c.flags); c.flags != "" && flags != "" {
		args = append([]string{"sh", "-c", `exec "$@" ` + flags, "sh"}, args...)
	}
	process := exec.CommandContext(r.ctx, args[0], args[1:]...)
	process.Cancel = func() error { return process.Process.Signal(syscall.SIGTERM) }
	process.Stdin = os.Stdin
	process.Dir = filepath.Join(r.root, c.folder)
	process.Env = append(os.Environ(), "PWD="+process.Dir)
	if c.race { // nothing else needs C
		process.Env = append(process.Env, "CGO_ENABLED=1")
	}
	for _, variable := range c.env {
		process.Env = append(process.Env, strings.ReplaceAll(variable, inRoot, r.root))
	}
	return process
}

// tests are those of a package with the tag cluster. They are compiled and run directly, not by go test, which
// would hold back what they print: the last line sums them up.
type tests struct {
	folder string
	race   bool
	args   []string
	flags  string
	env    []string
}

func (t tests) run(r *runner) error {
	compiled, err := t.compile(r)
	if err != nil {
		return err
	}
	return compiled.run(r)
}

// compile compiles the tests and returns the command that runs them.
func (t tests) compile(r *runner) (command, error) {
	build, program := words("go test -tags cluster -c"), path.Base(t.folder)
	if t.race {
		build, program = append(build, "-race"), program+"-race"
	}
	program = filepath.Join(r.root, "bin", program+".test")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return command{}, err
	}
	err := command{args: append(build, "-o", program, "./"+t.folder), race: t.race}.run(r)
	return command{args: append([]string{program}, t.args...), flags: t.flags, env: t.env, folder: t.folder}, err
}

// integration are the integration tests, or those whose names match. gotestsum ends them with a list of those that
// failed.
type integration struct {
	race bool
	only string
}

func (i integration) run(r *runner) error {
	args := append(toolchain.Pinned(r.root, "gotestsum"), words(
		"--format=standard-verbose --hide-summary=skipped,output -- -tags cluster -timeout=60m -count=1 -parallel=8")...)
	if i.race {
		args = append(args, "-race")
	}
	if i.only != "" {
		args = append(args, "-run="+i.only)
	}
	return command{args: append(args, "./test/integration"), flags: "TESTFLAGS", race: i.race}.run(r)
}

// controlPlane provides the programs of a control plane, unless the tests use the cluster of the user's own kubeconfig.
type controlPlane struct{}

func (controlPlane) run(r *runner) error {
	current, err := controlplane.CurrentWanted()
	if current || err != nil {
		return err
	}
	_, err = controlplane.Programs(r.ctx, os.Stderr)
	return err
}

// programs are those of the toolchain that tests start.
type programs []string

func (p programs) run(r *runner) error {
	_, err := toolchain.Ensure(r.ctx, os.Stderr, p...)
	return err
}

// empty is a file that an earlier run has left or, with a slash at its end, a folder, which exists and is empty
// afterwards.
type empty string

func (e empty) run(r *runner) error {
	name := filepath.Join(r.root, string(e))
	if err := os.RemoveAll(name); err != nil {
		return err
	}
	if strings.HasSuffix(string(e), "/") {
		return os.MkdirAll(name, 0o755)
	}
	return os.MkdirAll(filepath.Dir(name), 0o755)
}

// function is a step of its own.
type function func(r *runner) error

func (f function) run(r *runner) error { return f(r) }

// runner runs steps in a repository.
type runner struct {
	ctx    context.Context
	root   string
	failed failedTests
}

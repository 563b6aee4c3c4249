package suites

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/packages"
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
	process.Stdout, process.Stderr = os.Stdout, os.Stderr
	if err := process.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(c.args, " "), err)
	}
	return nil
}

// fewCollections is GOGC for compilers, tests and control planes: they end soon, and memory is there, while both cores
// are busy. A manager that runs as a program has its own.
const fewCollections = "400"

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
	process.Env = append(os.Environ(), "PWD="+process.Dir, "GOGC="+parameter("GOGC", fewCollections))
	if c.race { // nothing else needs C
		process.Env = append(process.Env, "CGO_ENABLED=1")
	}
	for _, variable := range c.env {
		process.Env = append(process.Env, strings.ReplaceAll(variable, inRoot, r.root))
	}
	return process
}

// goTest are tests that go test runs.
type goTest struct {
	args    string // with the packages, and flags of their own after these; build flags have the form -tags=cluster
	module  string // the folder of their module, if it is not the repository's
	flags   string // the variable with more arguments, TESTFLAGS if empty
	env     []string
	race    bool
	verbose bool // show all that they print, not only that of tests that fail
}

// fastLinks leaves out what only debuggers read: a hundred programs are linked.
const fastLinks = "-ldflags=-w"

// run compiles the tests first, without linking them, and runs them by gotestsum, whose events go to a file of the suite.
func (g goTest) run(r *runner) error {
	args := words(g.args)
	if g.race {
		args = append([]string{"-race"}, args...)
	}
	build := words(`go list -export -test -f={{""}}`)
	for _, arg := range args {
		if arg == "-race" || strings.HasPrefix(arg, "-tags=") || strings.HasPrefix(arg, ".") {
			build = append(build, arg)
		}
	}
	if err := r.compile(command{args: build, folder: g.module, race: g.race}); err != nil {
		return err
	}
	show := "--format=standard-quiet --hide-summary=skipped"
	if g.verbose {
		show = "--format=standard-verbose --hide-summary=skipped,output"
	}
	events, err := os.CreateTemp(r.events, "*.json")
	if err != nil {
		return err
	}
	args = slices.Concat(toolchain.Pinned(r.root, "gotestsum"), words(show), []string{"--jsonfile=" + events.Name(), "--", fastLinks}, args)
	tested := command{args: args, flags: cmp.Or(g.flags, "TESTFLAGS"), env: g.env, folder: g.module, race: g.race}.run(r)
	return errors.Join(events.Close(), tested)
}

// onCluster are flags of tests that need a cluster; others may follow.
const onCluster = "-tags=cluster -count=1 -timeout=30m "

// integration are the integration tests, or those whose names match.
func integration(race bool, only string) step {
	return goTest{args: onCluster + "-timeout=60m -parallel=8 -run=" + only + " ./test/integration", race: race, verbose: true}
}

// compile runs a command that compiles, and adds its time to that of the suite.
func (r *runner) compile(c command) error {
	began := time.Now()
	err := c.run(r)
	r.compiled += time.Since(began)
	return err
}

// slowest lists the slowest tests of the suite.
func (r *runner) slowest() error {
	files, err := filepath.Glob(filepath.Join(r.events, "*.json"))
	if err != nil || len(files) == 0 {
		return err
	}
	return command{args: slices.Concat(words(`sh -c`), []string{`events=$1; shift; cat "$events"/*.json | "$@"`, "sh", r.events},
		toolchain.Pinned(r.root, "gotestsum"), words("tool slowest --num 10"))}.run(r)
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

// packaged are programs and files that packages of the distribution have.
type packaged map[string]string

func (p packaged) run(r *runner) error { return packages.Ensure(r.ctx, os.Stderr, p) }

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
	ctx     context.Context
	root    string
	outcome outcome
	// Of the suite that runs: how long it has compiled, and the folder with the times of its tests.
	compiled time.Duration
	events   string
}

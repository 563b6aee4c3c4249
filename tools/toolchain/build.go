package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/example/appservice-operator/tools/filelock"
)

const (
	// heartbeat is how often a long build says that it is still alive.
	heartbeat = 30 * time.Second
	// grace is how long a cancelled go command may take to end its compilers.
	grace = 10 * time.Second
)

// workshop builds programs from the modules in tools into the cache.
type workshop struct {
	tools    string
	cache    string
	progress io.Writer
}

func (w workshop) ensure(ctx context.Context, wanted []program) (Programs, error) {
	programs := Programs{}
	for _, p := range wanted {
		path, err := w.provide(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("cannot build %s: %w", p.name, err)
		}
		programs[p.name] = path
	}
	return programs, nil
}

// provide returns the path of one program and builds it where it is missing.
func (w workshop) provide(ctx context.Context, p program) (string, error) {
	toolchain, err := w.goCommand(ctx, p, "env", "GOVERSION", "GOOS", "GOARCH").Output()
	if err != nil {
		return "", fmt.Errorf("cannot ask the go command for its version: %w", explain(err))
	}
	pin, err := pinOf(p, filepath.Join(w.tools, p.module), string(toolchain))
	if err != nil {
		return "", err
	}
	path := filepath.Join(w.cache, p.module+"-"+pin.key, p.name)
	if exists(path) {
		return path, nil
	}
	release, err := filelock.Acquire(ctx, filepath.Join(w.cache, "locks", filepath.Base(filepath.Dir(path))+"-"+p.name),
		func() { w.report("waiting for another process that builds %s", p.name) })
	if err != nil {
		return "", err
	}
	defer release()
	if exists(path) { // the other process was faster
		return path, nil
	}
	return path, w.build(ctx, p, pin, path)
}

func (w workshop) build(ctx context.Context, p program, pin pin, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// The go command refuses to overwrite what a build that was killed may have left half written.
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !os.IsNotExist(err) {
		return err
	}
	defer func() { _ = os.Remove(partial) }()

	w.report("building %s (%s %s), about %s on 2 cores ...", p.name, p.source, pin.version, p.minutes)
	start := time.Now()
	args := append([]string{"build"}, flags(p, pin.version)...)
	if err := w.run(p.name, w.goCommand(ctx, p, append(args, "-o", partial, p.path)...)); err != nil {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	w.report("built %s in %s", p.name, time.Since(start).Round(time.Second))
	return nil
}

// run runs a go command and prints a heartbeat for as long as it takes.
func (w workshop) run(name string, command *exec.Cmd) error {
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	start := time.Now()
	if err := command.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.report("building %s: %s so far ...", name, time.Since(start).Round(time.Second))
		case err := <-done:
			if err != nil {
				return fmt.Errorf("%w: %s", err, tail(output.String()))
			}
			return nil
		}
	}
}

// goCommand prepares a go command in the module of a program, whatever the user has set for builds of their own.
func (w workshop) goCommand(ctx context.Context, p program, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = filepath.Join(w.tools, p.module)
	command.Env = append(os.Environ(),
		"PWD="+command.Dir,
		"GOFLAGS="+goFlags(os.Getenv("GOFLAGS")),
		"GO111MODULE=on", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH,
	)
	// An interrupted go command ends the compilers it has started, a killed one does not.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = grace
	return command
}

// goFlags keeps of the user's GOFLAGS what cannot change a program. It never returns nothing, since the go command
// would then take what "go env -w" has stored.
func goFlags(user string) string {
	kept := []string{"-buildvcs=false"}
	for _, flag := range strings.Fields(user) {
		if flag == "-modcacherw" || strings.HasPrefix(flag, "-p=") {
			kept = append(kept, flag)
		}
	}
	return strings.Join(kept, " ")
}

func (w workshop) report(format string, args ...any) {
	_, _ = fmt.Fprintf(w.progress, format+"\n", args...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// explain adds what a command wrote before it failed.
func explain(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, tail(string(exit.Stderr)))
	}
	return err
}

// tail returns the last lines of what the go command printed, as one line and without its downloads.
func tail(output string) string {
	const most = 5
	var kept []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "go: downloading ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-most):], "; ")
}

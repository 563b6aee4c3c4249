package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

const (
	// heartbeat is how often a long build says that it is still alive.
	heartbeat = 30 * time.Second
	// grace is how long a canceled go command may take to end its compilers.
	grace = 10 * time.Second
	// compiling is printed while another build has the compiler.
	compiling = "waiting for another build to end"
)

// build builds programs, those of one module together: their packages are compiled side by side, and one is linked
// while the others compile. Packages that an interrupted build has compiled are in Go's own cache, so the next one
// continues from there.
func (w workshop) build(ctx context.Context, missing []place) error {
	if len(missing) == 0 {
		return nil
	}
	release, err := w.lock(ctx, "compiler", compiling)
	if err != nil {
		return err
	}
	defer release()
	for len(missing) > 0 {
		first := missing[0]
		var batch, rest []place
		for _, p := range missing {
			if p.module == first.module && slices.Equal(p.flags(), first.flags()) {
				batch = append(batch, p)
			} else {
				rest = append(rest, p)
			}
		}
		if err := w.buildBatch(ctx, batch); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx) // and not what the go command says that it has ended
			}
			return fmt.Errorf("cannot build %s: %w", names(batch), err)
		}
		missing = rest
	}
	return nil
}

func (w workshop) buildBatch(ctx context.Context, batch []place) error {
	// A folder of their own: the go command names programs by their packages, and may leave half of one when it is killed.
	partial := filepath.Dir(batch[0].built) + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(partial) }()
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return err
	}
	var uses []string
	var takes time.Duration
	args := append([]string{"build", "-o", partial + string(filepath.Separator)}, batch[0].flags()...)
	for _, p := range batch {
		uses = append(uses, fmt.Sprintf("%s (%s)", p.name, p.use))
		takes += p.takes
		args = append(args, p.path)
	}
	w.report("building %s from %s %s, about %s on 2 cores ...", enumerate(uses), batch[0].source, batch[0].pin.version, about(takes))
	start := time.Now()
	if err := w.run(names(batch), w.goCommand(ctx, batch[0].module, args...)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(batch[0].built), 0o755); err != nil {
		return err
	}
	for _, p := range batch {
		if err := os.Rename(filepath.Join(partial, executable(p.path)), p.built); err != nil {
			return err
		}
	}
	w.report("built %s in %s", names(batch), time.Since(start).Round(time.Second))
	return nil
}

// executable returns what the go command calls the program of a package: the last part of its path that is not a
// version.
func executable(pkg string) string {
	if regexp.MustCompile(`^v[0-9]+$`).MatchString(path.Base(pkg)) {
		pkg = path.Dir(pkg)
	}
	return path.Base(pkg)
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

// goCommand prepares a go command in a module of tools/pins, whatever the user has set for builds of their own.
func (w workshop) goCommand(ctx context.Context, module string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = filepath.Join(w.pins, module)
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

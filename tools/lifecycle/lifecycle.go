// Package lifecycle starts programs that outlive the process that starts them: they have all their state in one folder, and run as DIR/bin/NAME. An
// instance that is not complete (the machine was restarted, a process died, a pinned version changed) is deleted and made again. The package takes
// no locks: that is for its callers.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
)

// Instance is a set of programs on this machine, complete or not.
type Instance struct {
	What       string // as in "cluster test"
	Dir        string
	Progress   io.Writer
	Patience   time.Duration // how long it may take until it is ready, on a busy machine
	Stall      time.Duration // how long it may leave requests unanswered before it counts as hung
	Recipe     string        // everything that it is made from
	Components []string      // the names of its programs

	Answers func(context.Context) error // whether it is ready
	Create  func(context.Context) error // makes it in its folder, and returns when it is ready
	End     func(context.Context) error // ends its programs
}

// Absent is the flaw of what has not been made yet.
const Absent = "it is not there"

// MadeFrom is the file that has the recipe once the instance is complete.
func (i *Instance) MadeFrom() string { return filepath.Join(i.Dir, "made-from") }

// Up makes the instance unless it is complete, and reports whether it did.
func (i *Instance) Up(ctx context.Context) (made bool, err error) {
	switch flaw, err := i.Flaw(ctx); {
	case err != nil || flaw == "":
		return false, err
	case flaw != Absent:
		i.say("%s is not whole (%s): making a new one", i.What, flaw)
	}
	if err := i.Delete(ctx); err != nil { // what is absent may have left something elsewhere
		return false, err
	}
	start := time.Now()
	i.say("starting %s ...", i.What)
	err = poll.Within(ctx, i.Patience, i.Create)
	if err == nil {
		err = os.WriteFile(i.MadeFrom(), []byte(i.Recipe), 0o644)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // and not what the commands say that it has ended
		}
		// The logs stay, the processes do not: even a canceled caller leaves none behind.
		err = errors.Join(err, i.End(context.WithoutCancel(ctx)))
		return false, fmt.Errorf("%w (logs: %s)", err, filepath.Join(i.Dir, "logs"))
	}
	i.say("started %s in %s", i.What, time.Since(start).Round(100*time.Millisecond))
	return true, nil
}

// Flaw says what is wrong with the instance; it is empty if the instance can be used.
func (i *Instance) Flaw(ctx context.Context) (string, error) {
	if _, err := os.Stat(i.Dir); errors.Is(err, fs.ErrNotExist) {
		return Absent, nil
	}
	made, err := os.ReadFile(i.MadeFrom())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it was never finished", nil
	case err != nil:
		return "", err
	case string(made) != i.Recipe:
		return "it was made from other versions or settings", nil
	}
	running, err := processes.Of(ctx, i.Dir)
	if err != nil {
		return "", err
	}
	for _, name := range i.Components {
		if len(running[name]) == 0 {
			return name + " is not running", nil
		}
	}
	// One that runs gets time: the machine may be slow.
	if err := poll.UntilWithin(ctx, i.Stall, i.Answers); err != nil {
		return "it does not answer: " + err.Error(), ctx.Err()
	}
	return "", nil
}

// Delete ends the programs and deletes the folder.
func (i *Instance) Delete(ctx context.Context) error {
	if err := i.End(ctx); err != nil {
		return err
	}
	return os.RemoveAll(i.Dir)
}

func (i *Instance) say(format string, args ...any) {
	_, _ = fmt.Fprintf(i.Progress, format+"\n", args...)
}

// Package processes runs programs: as children of this process, or for longer, as processes that belong to a folder since they were
// started as DIR/bin/NAME. These it finds and ends.
//
// It asks the system for them rather than files with process numbers: after a restart of the machine such a number may belong to
// a foreign process. Nothing else is ever ended.
package processes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/example/appservice-operator/tools/poll"
)

// gone is how long ended processes may take to disappear.
const gone = time.Minute

// Of returns the numbers of the processes of a folder, by their name in DIR/bin.
func Of(ctx context.Context, dir string) (map[string][]int, error) {
	commands, err := commandLines(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	found := map[string][]int{}
	prefix := filepath.Join(dir, "bin") + "/"
	for pid, command := range commands {
		if rest, ok := strings.CutPrefix(command, prefix); ok {
			name, _, _ := strings.Cut(rest, " ")
			found[name] = append(found[name], pid)
		}
	}
	return found, nil
}

// End kills the processes of a folder and returns when they are gone. They have no chance to save anything.
func End(ctx context.Context, dir string) error {
	return poll.UntilWithin(ctx, gone, func(ctx context.Context) error {
		running, err := Of(ctx, dir)
		if err != nil {
			return err
		}
		var remaining []string
		for name, pids := range running {
			if err := Kill(name, pids); err != nil {
				return err
			}
			remaining = append(remaining, name)
		}
		if len(remaining) > 0 {
			return fmt.Errorf("still running: %s", strings.Join(remaining, ", "))
		}
		return nil
	})
}

// Kill sends SIGKILL to processes. The name is for the error only. It is not an error if they have ended already.
func Kill(name string, pids []int) error {
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("cannot end %s (process %d): %w", name, pid, err)
		}
	}
	return nil
}

// commandLines returns the command line of every process that has one, with spaces between its words.
func commandLines(ctx context.Context) (map[int]string, error) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		out, err := exec.CommandContext(ctx, "ps", "-axww", "-o", "pid=,command=").Output()
		if err != nil {
			return nil, err
		}
		return parse(string(out)), nil
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	commands := map[int]string{}
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		// A process that has ended meanwhile has no such file, and a zombie has an empty one.
		if content, err := os.ReadFile(file); err == nil && len(content) > 0 {
			commands[pid] = string(bytes.ReplaceAll(bytes.TrimRight(content, "\x00"), []byte{0}, []byte(" ")))
		}
	}
	return commands, nil
}

// parse reads what ps prints: a number and a command on every line.
func parse(output string) map[int]string {
	commands := map[int]string{}
	for line := range strings.Lines(output) {
		number, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pid, err := strconv.Atoi(number); err == nil {
			commands[pid] = strings.TrimSpace(command)
		}
	}
	return commands
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

const (
	// patience is how long one thing may take that the demo waits for.
	patience = 2 * time.Minute
	// timeout is the same as an argument of kubectl.
	timeout = "--timeout=2m"
	// grace is how long a command that has to end may take.
	grace = 10 * time.Second
)

// kubectl prints a kubectl command, runs it, and prints and returns its output.
func (d *demo) kubectl(ctx context.Context, args ...string) string {
	d.say("$ %s", commandLine("kubectl", args))
	output, err := d.quietly(ctx, args...)
	d.printed(output)
	try.Do(err)
	return output
}

// finds prints a kubectl command that ends with 1, since it finds something, runs it, and prints its output.
func (d *demo) finds(ctx context.Context, args ...string) {
	d.say("$ %s", commandLine("kubectl", args))
	output, err := d.quietly(ctx, args...)
	d.printed(output)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		try.Fail("%s finds nothing: %w", commandLine("kubectl", args), err)
	}
}

// until prints a kubectl command, repeats it until its output is as wanted, and prints and returns that output.
func (d *demo) until(ctx context.Context, goal string, reached func(output string) bool, args ...string) string {
	d.say("$ %s   # until %s", commandLine("kubectl", args), goal)
	var output string
	err := poll.UntilWithin(ctx, patience, func(ctx context.Context) error {
		var err error
		if output, err = d.quietly(ctx, args...); err == nil && !reached(output) {
			err = fmt.Errorf("waiting until %s, but kubectl prints %q", goal, output)
		}
		return err
	})
	d.printed(output)
	try.Do(err)
	return output
}

// other reports whether there is an output, and not the one of before.
func other(before string) func(output string) bool {
	return func(output string) bool { return output != "" && output != before }
}

// quietly runs kubectl on the cluster and returns what it prints.
func (d *demo) quietly(ctx context.Context, args ...string) (string, error) {
	var complaint bytes.Buffer
	command := d.command(ctx, d.cluster.Kubectl, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+d.cluster.Kubeconfig, // kubectl finds its plugin in PATH
		"PATH="+d.folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		return string(output), fmt.Errorf("kubectl %s: %w: %s", args[0], err, strings.TrimSpace(complaint.String()))
	}
	return string(output), nil
}

// command prepares a command in the repository that a canceled context ends, but a Ctrl-C in the terminal does not:
// it is for the demo to say when.
func (d *demo) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = d.root
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = grace
	return command
}

func (d *demo) printed(output string) {
	if text := strings.TrimSpace(output); text != "" {
		d.say("%s", text)
	}
}

// commandLine returns a command as one would type it.
func commandLine(program string, args []string) string {
	words := []string{program}
	for _, arg := range args {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// quote makes one word of a string, for any POSIX shell. For a flag, it quotes the value alone.
func quote(word string) string {
	if flag, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(flag, "--") {
		return flag + "=" + quote(value)
	}
	if !strings.ContainsAny(word, " \t\n'\"\\$`!&|;<>()[]{}*?#~") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

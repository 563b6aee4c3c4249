package processes

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Child is a program that this process has started and waits for. Whoever starts it kills or stops it.
type Child struct {
	command *exec.Cmd
	ended   chan struct{}
	err     error
}

// Start starts a command as a child.
func Start(command *exec.Cmd) (*Child, error) {
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", filepath.Base(command.Path), err)
	}
	c := &Child{command: command, ended: make(chan struct{})}
	go func() {
		c.err = command.Wait()
		close(c.ended)
	}()
	return c, nil
}

// Ended is closed when the child has ended, and all that it wrote is where it should go.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// State is that of a child that has ended.
func (c *Child) State() *os.ProcessState { return c.command.ProcessState }

// Pid is the number of the process.
func (c *Child) Pid() int { return c.command.Process.Pid }

// Signal sends a signal, unless the child has ended.
func (c *Child) Signal(signal os.Signal) { _ = c.command.Process.Signal(signal) }

// Kill ends the child with SIGKILL and waits until it is gone.
func (c *Child) Kill() {
	_ = c.command.Process.Kill()
	<-c.ended
}

// Stop asks the child to end, waits until it has and returns how. One that takes longer than grace is killed.
func (c *Child) Stop(grace time.Duration) error {
	c.Signal(syscall.SIGTERM)
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	select {
	case <-c.ended:
		return c.err
	case <-deadline.C:
		c.Kill()
		return fmt.Errorf("%s was killed: it had not ended within %s of SIGTERM", filepath.Base(c.command.Path), grace)
	}
}

// FreeAddresses returns different loopback addresses that are free to listen on.
func FreeAddresses(count int) ([]string, error) {
	var addresses []string
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("cannot find a free port: %w", err)
		}
		defer listener.Close()
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}

// Output runs a command and returns what it prints, or an error with the last line of what it complained about.
func Output(command *exec.Cmd) (string, error) {
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		complaint := strings.TrimSpace(string(exit.Stderr))
		err = fmt.Errorf("%w: %s", err, plain(complaint[strings.LastIndex(complaint, "\n")+1:]))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Base(command.Path), err)
	}
	return string(out), nil
}

// plain returns the message of a line that kwokctl has logged as JSON, and any other line as it is.
func plain(line string) string {
	var entry struct {
		Message string `json:"msg"`
		Error   string `json:"err"`
	}
	if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Message+entry.Error == "" {
		return line
	}
	if entry.Error == "" {
		return entry.Message
	}
	return entry.Error
}

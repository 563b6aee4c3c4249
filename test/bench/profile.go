package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// profiledPhases are those that make profile looks at, in the order in which they come.
var profiledPhases = []string{"install", "noop", "image"}

// profileAs replaces the operator's program by one that writes profiles, if that is wanted.
func (b *bench) profileAs(c *contender) {
	if !b.profile || c.letter != "e" {
		return
	}
	folder := b.profileFolder()
	try.Do(os.RemoveAll(folder))
	try.Do(os.MkdirAll(folder, 0o755))
	c.build = func(ctx context.Context) error { return b.compile(ctx, "manager-profiled", "./test/bench/profiled") }
	plain := c.command
	c.command = func(metrics string) (string, []string, error) {
		_, args, err := plain(metrics)
		return b.program("manager-profiled"), args, err
	}
	c.env = []string{"PROFILES=" + strings.Join(profiledPhases, ","), "PROFILE_DIR=" + folder}
}

func (b *bench) profileFolder() string { return filepath.Join(b.root, "bin", "profiles") }

// mark begins or ends the profile of a phase and returns when that is done: signals that come at the same time are one. The file is the
// last that the process makes of it.
func (m *match) mark(phase, file string) {
	if !m.profile || !slices.Contains(profiledPhases, phase) {
		return
	}
	m.process.Signal(syscall.SIGUSR1)
	path := filepath.Join(m.profileFolder(), phase+file)
	try.Do(poll.PacedWithin(context.Background(), time.Minute, poll.Every(10*time.Millisecond), func(context.Context) error { _, err := os.Stat(path); return err }))
}

// summarize prints what took most of CPU and allocations.
func (b *bench) summarize(ctx context.Context) {
	folder := b.profileFolder()
	for _, phase := range profiledPhases {
		path := filepath.Join(folder, phase)
		for _, args := range [][]string{
			{"-top", "-cum", "-nodecount=40", path + ".cpu.pprof"},
			{"-top", "-cum", "-nodecount=40", "-sample_index=alloc_space", "-ignore=runtime/pprof", "-base=" + path + ".allocs-before.pprof", path + ".allocs.pprof"},
			{"-top", "-nodecount=20", "-sample_index=inuse_space", path + ".heap.pprof"},
		} {
			_, _ = fmt.Fprintf(b.out, "\n$ go tool pprof %s\n", strings.Join(args, " "))
			command := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof"}, args...)...)
			command.Stdout, command.Stderr = b.out, b.out
			try.Do(command.Run())
		}
	}
}

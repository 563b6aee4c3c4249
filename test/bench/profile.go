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
var profiledPhases = []string{"install", "noop", "image", "settle"}

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

// settle waits after an install and an image change, so that the live heap is that of resources at rest.
func (m *match) settle(ctx context.Context) {
	if m.profile {
		_, finish := m.begin(ctx, "settle")
		pause(ctx, idleFor)
		finish()
	}
}

// summarize prints what took most of CPU and allocations, and the live heap of a resource.
func (b *bench) summarize(ctx context.Context) {
	folder := b.profileFolder()
	live := func(name string) (bytes float64) {
		_ = try.Get(fmt.Sscan(string(try.Get(os.ReadFile(filepath.Join(folder, name)))), &bytes))
		return bytes
	}
	none, all := live("install.live-before"), live("settle.live")
	b.say("live heap: %.1f MiB with none, %.1f MiB with %d, so %.1f KiB each", none/(1<<20), all/(1<<20), b.n, (all-none)/1024/float64(b.n))
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

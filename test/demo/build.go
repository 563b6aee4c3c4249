package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/toolchain"
)

// heartbeat is how often a long build says that it is still alive.
const heartbeat = 20 * time.Second

func (d *demo) binary() string { return filepath.Join(d.folder, "manager") }

// lock ensures that a cluster has one demo at a time. The manager inherits the lock, so that one which KEEP=1 has
// left running still holds it; the locked file has its process number.
func (d *demo) lock() (unlock func()) {
	file := try.Get(os.OpenFile(filepath.Join(d.folder, "manager.pid"), os.O_CREATE|os.O_RDWR, 0o644))
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer file.Close()
		if pid, _ := io.ReadAll(file); errors.Is(err, syscall.EWOULDBLOCK) && len(pid) > 0 {
			try.Fail("another demo uses the cluster: wait for it or, if it was left running, end its manager with \"kill %s\"", pid)
		}
		try.Fail("cannot lock %s, another demo may use the cluster: %w", file.Name(), err)
	}
	d.pidFile = file
	try.Do(file.Truncate(0))
	return func() { _ = file.Close() }
}

// provide provides the programs of the cluster in the cache. While they are downloaded, and while the cluster comes up,
// the manager is built.
func (d *demo) provide(ctx context.Context) {
	d.built = make(chan struct{})
	d.working.Go(func() {
		if err := d.build(ctx); err != nil {
			d.abort(fmt.Errorf("cannot build the manager: %w", err))
			return
		}
		close(d.built)
	})
	if !d.current {
		try.Get(controlplane.Programs(ctx, d.out))
	}
}

// build builds the manager, and the plugin of kubectl.
func (d *demo) build(ctx context.Context) error {
	release, err := toolchain.LockCompiler(ctx, d.out)
	if err != nil {
		return err
	}
	defer release()
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", d.folder + "/", "./cmd/manager", "./cmd/kubectl-appservice"}
	d.say("$ CGO_ENABLED=0 %s", commandLine("go", args))
	if _, err := os.Stat(d.binary()); err != nil {
		d.say("building the manager (the operator's program) and kubectl appservice, about 4 min on 2 cores when Go's build cache is empty ...")
	}
	command := d.command(ctx, "go", args...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	defer d.heartbeat("building the manager")()
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

// heartbeat says every now and then how long something has taken so far.
func (d *demo) heartbeat(what string) (stop func()) {
	start := time.Now()
	ticker := time.NewTicker(heartbeat)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				d.say("%s: %s so far ...", what, time.Since(start).Round(time.Second))
			case <-done:
				return
			}
		}
	}()
	return func() { ticker.Stop(); close(done) }
}

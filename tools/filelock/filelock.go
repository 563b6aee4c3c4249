// Package filelock keeps two processes, or two goroutines, from doing the same work at the same time.
//
// A lock is an advisory lock on a file. The system takes it back when its holder ends, however it ends, so a crash
// leaves nothing to clean up. The file itself stays and says nothing. The package never waits longer than its context.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// retry is how often a taken lock is tried again.
const retry = 100 * time.Millisecond

// Acquire takes the lock on path and returns the function that releases it. It makes the file and its folder where
// they are missing, and calls busy once when it has to wait for another holder.
func Acquire(ctx context.Context, path string, busy func()) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	if err := wait(ctx, file, busy); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	// Closing the file releases the lock: no other descriptor shares it, since Go's are not inherited.
	return func() { _ = file.Close() }, nil
}

func wait(ctx context.Context, file *os.File, busy func()) error {
	ticker := time.NewTicker(retry)
	defer ticker.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if busy != nil {
			busy()
			busy = nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

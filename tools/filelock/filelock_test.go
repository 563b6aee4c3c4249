package filelock

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAcquire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "lock")
	release, err := Acquire(t.Context(), path, func() { t.Error("the first holder had to wait") })
	require.NoError(t, err)

	// The second holder gives up as soon as it has seen that it must wait.
	ctx, cancel := context.WithCancel(t.Context())
	waits := 0
	if _, err := Acquire(ctx, path, func() { waits++; cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("second holder: got error %v, want %v", err, context.Canceled)
	}
	if waits != 1 {
		t.Errorf("second holder was told %d times that it must wait, want once", waits)
	}

	release()
	again, err := Acquire(t.Context(), path, func() { t.Error("a released lock is still held") })
	require.NoError(t, err)
	again()
}

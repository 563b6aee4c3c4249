package operator

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// trimPeriod is how often the trimmer looks whether the process rests.
const trimPeriod = 10 * time.Second

// resting is how many bytes a process that rests may allocate within trimPeriod.
const resting = 4 << 20

// trimmer gives memory back to the system when a burst of work is over: without work, Go's garbage collector runs every two
// minutes only, and what the burst left stays with the process. It is a manager.Runnable.
type trimmer struct {
	allocated func() uint64 // bytes since the start
	release   func()

	last uint64
	busy bool
}

func newTrimmer() *trimmer {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	return &trimmer{
		allocated: func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() },
		release:   debug.FreeOSMemory,
	}
}

// Start implements manager.Runnable.
func (t *trimmer) Start(ctx context.Context) error {
	ticker := time.NewTicker(trimPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			t.tick()
		}
	}
}

// NeedLeaderElection says that the runnable also runs where another manager leads: that one has caches, too.
func (t *trimmer) NeedLeaderElection() bool { return false }

// tick releases memory once when work is over.
func (t *trimmer) tick() {
	now := t.allocated()
	rests := now-t.last < resting
	t.last = now
	if rests && t.busy {
		t.release()
	}
	t.busy = !rests
}

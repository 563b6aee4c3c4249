package operator

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// trimPeriod is how often the trimmer looks whether the process rests.
const trimPeriod = 10 * time.Second

// A process that rests may allocate so many bytes within trimPeriod, or that part of what is in use if it is more: a scrape
// of the metrics allocates some 3 % of it.
const (
	resting     = 4 << 20
	restingPart = 16
)

// trimmer gives memory back to the system when a burst of work is over: without work, Go's garbage collector runs every two
// minutes only, and what the burst left stays with the process. It is a manager.Runnable.
type trimmer struct {
	heap    func() (allocated, live uint64) // bytes since the start, and in use
	release func()

	last uint64
	busy bool
}

func newTrimmer() *trimmer {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	return &trimmer{
		heap: func() (allocated, live uint64) {
			metrics.Read(samples)
			return samples[0].Value.Uint64(), samples[1].Value.Uint64()
		},
		release: debug.FreeOSMemory,
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
	now, live := t.heap()
	rests := now-t.last < max(resting, live/restingPart)
	t.last = now
	if rests && t.busy {
		t.release()
	}
	t.busy = !rests
}

package operator

import (
	"runtime"
	"testing"
)

func TestMemoryIsReleasedOnceWhenWorkIsOver(t *testing.T) {
	var allocated, live uint64
	released := 0
	trim := &trimmer{heap: func() (uint64, uint64) { return allocated, live }, release: func() { released++ }}
	for i, step := range []struct {
		allocates uint64
		released  int
	}{
		{1 << 10, 0},   // nothing was done yet
		{100 << 20, 0}, // work
		{50 << 20, 0},  // more work
		{1 << 20, 1},   // it is over
		{1 << 20, 1},   // and stays so
		{20 << 20, 1},  // work again
		{0, 2},
	} {
		allocated += step.allocates
		trim.tick()
		if released != step.released {
			t.Errorf("after step %d memory was released %d times, want %d", i, released, step.released)
		}
	}
	live = 320 << 20
	for range 3 { // scrapes of a large fleet
		allocated += 15 << 20
		trim.tick()
	}
	if released != 2 {
		t.Errorf("memory was released %d times, though there were scrapes only", released)
	}
	runtime.GC()
	if allocated, live := newTrimmer().heap(); allocated == 0 || live == 0 {
		t.Errorf("the runtime tells of %d bytes allocated and %d in use", allocated, live)
	}
}

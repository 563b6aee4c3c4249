package operator

import "testing"

func TestMemoryIsReleasedOnceWhenWorkIsOver(t *testing.T) {
	var allocated uint64
	released := 0
	trim := &trimmer{allocated: func() uint64 { return allocated }, release: func() { released++ }}
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
	if newTrimmer().allocated() == 0 {
		t.Error("the runtime does not tell what was allocated")
	}
}

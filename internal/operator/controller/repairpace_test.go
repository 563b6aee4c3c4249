package controller

import (
	"testing"
	"time"
)

func TestRepairsOfAContestedField(t *testing.T) {
	var c repairPace
	now := start
	for repair, want := range []time.Duration{0, 0, 10, 20, 40, 80, 160, 300, 300, 300} {
		if got := c.Wait(now); got != want*time.Second {
			t.Errorf("before repair %d: got %s, want %s", repair+1, got, want*time.Second)
		}
		now = now.Add(want * time.Second)
		if wait := c.Wait(now); wait != 0 {
			t.Errorf("before repair %d, once the time is over: got %s", repair+1, wait)
		}
		if repair > 0 && c.Over(now) {
			t.Errorf("before repair %d: it counts as over", repair+1)
		}
		c.Repaired(now)
	}
	if now = now.Add(lastContestedDelay + uncontested + time.Second); !c.Over(now) {
		t.Error("it is not over although nobody changed the field for long")
	}
	if c.Repaired(now); c.Wait(now) != 0 {
		t.Error("the first repair after that is counted with those before")
	}
}

// Repairs that are further apart than a minute are no contest.
func TestRareRepairsAreMadeAtOnce(t *testing.T) {
	var c repairPace
	for now := start; now.Before(start.Add(time.Hour)); now = now.Add(uncontested + time.Second) {
		if wait := c.Wait(now); wait != 0 {
			t.Fatalf("after %s: got %s", now.Sub(start), wait)
		}
		c.Repaired(now)
	}
}

package diagnose

import (
	"testing"
	"time"
)

// look is one moment of a Deployment that is not as desired.
type look struct {
	after    time.Duration // since the Deployment was first seen so
	progress Counts
	looked   bool    // whether it is time to look at pods
	causes   []Cause // what that finds
}

func TestWhenPodsAreLookedAt(t *testing.T) {
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(n int32) Counts { return Counts{All: 3, Updated: n} }
	lasting := []Cause{{Effect: Lasting}}
	passing := func(until time.Duration) []Cause {
		return []Cause{{Effect: Passing, Until: begin.Add(until)}}
	}
	cases := map[string][]look{
		"it stands still": {{0, at(1), false, nil}, {2 * time.Second, at(1), false, nil}, {3 * time.Second, at(1), true, nil}},
		"progress puts the first look off": {
			{0, at(1), false, nil}, {2 * time.Second, at(2), false, nil}, {4 * time.Second, at(3), false, nil}, {7 * time.Second, at(3), true, nil},
		},
		"but not for long": {
			{0, at(1), false, nil}, {2 * time.Second, at(2), false, nil}, {4 * time.Second, at(3), false, nil}, {6 * time.Second, at(4), false, nil},
			{8 * time.Second, at(5), false, nil}, {10 * time.Second, at(6), true, nil},
		},
		"while nothing is found, the looks grow apart": {
			{3 * time.Second, at(1), true, nil}, {5 * time.Second, at(1), false, nil}, {6 * time.Second, at(1), true, nil}, {10 * time.Second, at(1), false, nil},
			{11 * time.Second, at(1), true, nil}, {20 * time.Second, at(1), false, nil}, {21 * time.Second, at(1), true, nil},
		},
		"what lasts is looked at seldom": {
			{3 * time.Second, at(1), true, lasting}, {20 * time.Second, at(1), false, nil}, {23 * time.Second, at(1), true, lasting}, {40 * time.Second, at(1), false, nil},
		},
		"unless something moves": {{3 * time.Second, at(1), true, lasting}, {4 * time.Second, at(2), false, nil}, {8 * time.Second, at(2), true, nil}},
		"and when what may pass begins to last": {
			{3 * time.Second, at(1), true, passing(4500 * time.Millisecond)}, {4 * time.Second, at(1), false, nil}, {4500 * time.Millisecond, at(1), true, lasting},
		},
	}
	for name, looks := range cases {
		t.Run(name, func(t *testing.T) {
			d := &PodReads{since: begin, next: begin.Add(patience)}
			for _, look := range looks {
				now := begin.Add(look.after)
				d.saw(now, look.progress)
				if due := d.Due(now); due != look.looked {
					t.Fatalf("after %s: is it time to look? %t; the next look is after %s", look.after, due, d.next.Sub(begin))
				}
				if look.looked {
					d.Done(now, look.causes)
				}
				if wait := d.Wait(now); wait <= 0 || !now.Add(wait).Equal(d.next) {
					t.Errorf("after %s: it waits for %s, though the next look is after %s", look.after, wait, d.next.Sub(begin))
				}
			}
		})
	}
}

func TestALookAtWhatLastsCostsLittle(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		causes []Cause
		most   int
	}{
		"a known cause":   {[]Cause{{Effect: Lasting}}, 70},
		"an unknown one":  {nil, 130},
		"one that passes": {[]Cause{{Effect: Passing}}, 130},
	} {
		t.Run(name, func(t *testing.T) {
			d, looks := &PodReads{}, 0
			for at := now; at.Before(now.Add(time.Hour)); at = d.next {
				d.Done(at, test.causes)
				looks++
			}
			if looks > test.most {
				t.Errorf("got %d looks in an hour, want %d at most", looks, test.most)
			}
		})
	}
}

// Another refusal than the first one shows only in events.
func TestRefusedPodsAreLookedAtMoreOften(t *testing.T) {
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	d := Follow(nil, &Workload{Refused: true}, begin, true)
	now, looks := begin, 0
	for ; now.Before(begin.Add(20 * time.Minute)); looks++ {
		if !d.Due(now) {
			t.Fatal("it is not time to look")
		}
		d.Done(now, []Cause{{Effect: Lasting}})
		switch wait := d.Wait(now); {
		case looks < 12 && wait != closest, wait > knownLater:
			t.Errorf("after %d looks, the next one is after %s", looks+1, wait)
		}
		now = now.Add(d.Wait(now))
	}
	if looks > 70 {
		t.Errorf("got %d looks in 20 minutes", looks)
	}
}

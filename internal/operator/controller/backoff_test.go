package controller

import (
	"testing"
	"time"
)

func TestTheTimeBetweenFailedAttemptsDoubles(t *testing.T) {
	var f backoff[int64]
	now := start
	for attempt, want := range []time.Duration{5, 10, 20, 40, 80, 120, 120, 120, 120, 120, 120, 120} {
		if got := f.Next(1); got != want*time.Second {
			t.Errorf("before attempt %d: got %s, want %s", attempt+1, got, want*time.Second)
		}
		if got := f.Again(now, 1, false); got != want*time.Second {
			t.Errorf("after attempt %d: got %s, want %s", attempt+1, got, want*time.Second)
		}
		now = now.Add(want * time.Second)
		if wait := f.Wait(now, 1); wait != 0 {
			t.Errorf("when the time is over after attempt %d, it waits for another %s", attempt+1, wait)
		}
	}
	for range 200 {
		if got := f.Again(now, 1, false); got != LastRetry {
			t.Fatalf("after very many attempts: got %s, want %s", got, LastRetry)
		}
	}
	if got := f.Again(now, 2, false); got != firstRetry {
		t.Errorf("at the first attempt of a new generation: got %s, want %s", got, firstRetry)
	}
	if got := f.Again(now, 2, false); got != 2*firstRetry {
		t.Errorf("at the second attempt of a new generation: got %s, want %s", got, 2*firstRetry)
	}
}

func TestWaitAfterAFailure(t *testing.T) {
	cases := map[string]struct {
		attempts   int
		after      time.Duration // since the last attempt
		generation int64
		want       time.Duration
	}{
		"nothing failed":                                     {0, 0, 1, 0},
		"a change right after the first attempt":             {1, 0, 1, 5 * time.Second},
		"a change 2 s after the first attempt":               {1, 2 * time.Second, 1, 3 * time.Second},
		"the timer of the first attempt":                     {1, 5 * time.Second, 1, 0},
		"a change 2 s after the eighth attempt":              {8, 2 * time.Second, 1, 3 * time.Second},
		"a change 5 s after the eighth attempt":              {8, 5 * time.Second, 1, 0},
		"a change 60 s after the eighth attempt":             {8, 60 * time.Second, 1, 0},
		"the timer of the eighth attempt":                    {8, 2 * time.Minute, 1, 0},
		"a new generation right after the eighth attempt":    {8, 0, 2, 0},
		"an earlier generation right after the last attempt": {8, 0, 0, 0}, // the resource was created again
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var f backoff[int64]
			for range test.attempts {
				f.Again(start, 1, false)
			}
			if got := f.Wait(start.Add(test.after), test.generation); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// However many changes there are, attempts are never closer than the first retry, and none is put off.
func TestAStormOfChangesDoesNotMakeAStormOfAttempts(t *testing.T) {
	var f backoff[int64]
	last, attempts := start, 0
	due := start
	for now := start; now.Before(start.Add(time.Hour)); now = now.Add(100 * time.Millisecond) {
		if f.Wait(now, 1) > 0 {
			continue
		}
		if attempts > 0 && now.Sub(last) < firstRetry {
			t.Fatalf("attempt %d came %s after the one before", attempts, now.Sub(last))
		}
		if attempts > 0 && now.After(due) {
			t.Fatalf("attempt %d came at %s, later than %s", attempts, now.Sub(start), due.Sub(start))
		}
		attempts++
		last, due = now, now.Add(f.Again(now, 1, false))
	}
	if want := int(time.Hour / firstRetry); attempts != want {
		t.Errorf("got %d attempts in an hour, want %d", attempts, want)
	}
}

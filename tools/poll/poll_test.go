package poll

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

var errNotYet = errors.New("not yet")

// after succeeds at the given call.
func after(calls *int, success int) func(context.Context) error {
	return func(context.Context) error {
		if *calls++; *calls < success {
			return errNotYet
		}
		return nil
	}
}

func TestUntil(t *testing.T) {
	cases := map[string]struct {
		success, calls int
		limit, took    time.Duration
		err            string
	}{
		"it is over at the first success":                       {success: 1, calls: 1, limit: time.Minute},
		"it goes on until it succeeds":                          {success: 3, calls: 3, limit: time.Minute, took: shortest + shortest*5/4},
		"it gives up with the last error when the time is over": {success: 100, calls: 3, limit: 3 * shortest, took: 3 * shortest, err: "not done after 60ms: not yet"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls, begin := 0, time.Now()
				err := UntilWithin(t.Context(), test.limit, after(&calls, test.success))
				switch {
				case test.err == "" && err != nil, test.err != "" && (!errors.Is(err, errNotYet) || err.Error() != test.err):
					t.Errorf("got the error %v, want %q", err, test.err)
				}
				if took := time.Since(begin); calls != test.calls || took != test.took {
					t.Errorf("it took %d calls and %s, want %d and %s", calls, took, test.calls, test.took)
				}
			})
		})
	}
}

func TestTheIntervalsGrowUpToTheLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks []time.Time
		_ = UntilWithin(t.Context(), time.Minute, func(context.Context) error {
			looks = append(looks, time.Now())
			return errNotYet
		})
		before := time.Duration(0)
		for i := range looks[1:] {
			interval := looks[i+1].Sub(looks[i])
			if interval < before || interval < shortest || interval > longest {
				t.Fatalf("interval %d is %s, after one of %s", i, interval, before)
			}
			before = interval
		}
		if before != longest {
			t.Errorf("the last interval is %s, want %s", before, longest)
		}
	})
}

func TestEveryIsAPaceOfEqualIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, begin := 0, time.Now()
		assert.NoError(t, PacedWithin(t.Context(), time.Minute, Every(time.Second), after(&calls, 10)))
		if took := time.Since(begin); took != 9*time.Second {
			t.Errorf("ten looks took %s, want 9s", took)
		}
	})
}

func TestItGivesUpWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := UntilWithin(ctx, time.Minute, func(context.Context) error {
			calls++
			cancel()
			return errNotYet
		})
		if !errors.Is(err, errNotYet) || err.Error() != "not yet" || calls != 1 {
			t.Errorf("got %v after %d calls", err, calls)
		}
	})
}

func TestTheErrorOfWhatTheDeadlineEndedIsNotTheLastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := UntilWithin(t.Context(), time.Minute, func(ctx context.Context) error {
			if calls++; calls == 1 {
				return errNotYet
			}
			<-ctx.Done()
			return errors.New("killed")
		})
		if !errors.Is(err, errNotYet) {
			t.Errorf("got %v, want the error before", err)
		}
	})
}

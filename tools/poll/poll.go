// Package poll waits for what does not report that it is done. It never waits longer than its context, and its errors are those of
// the last attempt: that of the context alone, which package wait of apimachinery returns, would not say what was missing.
package poll

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// A condition that is not there yet is looked at again after the shortest interval, then after longer and longer ones: what
// comes soon is seen soon, and what takes its time is not made slower by being looked at.
const (
	shortest = 20 * time.Millisecond
	longest  = 250 * time.Millisecond
)

// Until repeats do until it succeeds. When the context ends first it returns the last error of do.
func Until(ctx context.Context, do func(context.Context) error) error {
	return Paced(ctx, Growing(shortest, longest, 1.25), do)
}

// UntilWithin is Until with a deadline of its own.
func UntilWithin(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	return Within(ctx, limit, func(ctx context.Context) error { return Until(ctx, do) })
}

// PacedWithin is Paced with a deadline of its own.
func PacedWithin(ctx context.Context, limit time.Duration, pace wait.Backoff, do func(context.Context) error) error {
	return Within(ctx, limit, func(ctx context.Context) error { return Paced(ctx, pace, do) })
}

// Paced is Until at another pace: for what is measured, or dear to look at.
func Paced(ctx context.Context, pace wait.Backoff, do func(context.Context) error) error {
	var last error
	err := pace.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := do(ctx)
		if ctx.Err() == nil || last == nil { // not the error of a command that the context has just ended
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return last
	}
	return nil
}

// Every is the pace of equal intervals.
func Every(interval time.Duration) wait.Backoff { return wait.Backoff{Duration: interval} }

// Growing is the pace of intervals that grow from one to another, each by a factor.
func Growing(from, to time.Duration, factor float64) wait.Backoff {
	return wait.Backoff{Duration: from, Cap: to, Factor: factor, Steps: math.MaxInt}
}

// Within runs do with a deadline and says in its error that the deadline was missed, and by what.
func Within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(limited)
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("not done after %s: %w", limit, err)
	}
	return err
}

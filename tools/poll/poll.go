// Package poll waits for what does not tell when it is done. It never waits longer than its context.
package poll

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A condition that is not there yet is looked at again after the shortest interval, then after longer and longer ones: what
// comes soon is seen soon, and what takes its time is not made slower by being looked at.
const (
	shortest = 20 * time.Millisecond
	longest  = 250 * time.Millisecond
)

// Until repeats do until it succeeds. When the context ends first it returns the last error of do.
func Until(ctx context.Context, do func(context.Context) error) error {
	var last error
	for interval := shortest; ; interval = min(longest, interval*5/4) {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil { // not the error of a command that the context has just ended
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(interval):
		}
	}
}

// UntilWithin is Until with a deadline of its own.
func UntilWithin(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	return Within(ctx, limit, func(ctx context.Context) error { return Until(ctx, do) })
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

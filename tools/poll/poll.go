// Package poll waits for what does not tell when it is done. It never waits longer than its context.
package poll

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// interval is how often a condition is looked at that is not there yet.
const interval = 100 * time.Millisecond

// Until repeats do until it succeeds. When the context ends first it returns the last error of do.
func Until(ctx context.Context, do func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last error
	for {
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
		case <-ticker.C:
		}
	}
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

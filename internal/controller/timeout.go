package problem

import (
	"context"
	"errors"
	"fmt"
)

// TimeoutError reports that a reconcile was ended because requests took too long.
type TimeoutError struct{ Err error }

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the API server did not answer in time, perhaps because of an admission webhook: %v", e.Err)
}

// Unwrap returns the error of the request.
func (e *TimeoutError) Unwrap() error { return e.Err }

// TimedOut wraps an error in a TimeoutError if a context has reached its deadline.
func TimedOut(ctx context.Context, err error) error {
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return &TimeoutError{err}
}

package controller

import (
	"context"
	"errors"
	"fmt"
)

// timeoutError reports that a reconcile was ended because requests took too long.
type timeoutError struct{ Err error }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the API server did not respond in time, perhaps because of an admission webhook: %v", e.Err)
}

// Unwrap returns the error of the request.
func (e *timeoutError) Unwrap() error { return e.Err }

// timedOut wraps an error in a TimeoutError if a context has reached its deadline.
func timedOut(ctx context.Context, err error) error {
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return &timeoutError{err}
}

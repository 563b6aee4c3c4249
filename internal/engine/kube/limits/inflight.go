package limits

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// small resources are always reconciled: all workers together need no more for them than for one of the largest.
const small = 4 << 10

// capacity is the total size in bytes of the larger resources that are reconciled at a time. A reconcile needs some 300
// times as much.
const capacity = 2 * Resource

// InFlight limits the memory of reconciles: however many resources change, or are read at a start, only a limited total
// of the larger ones is reconciled at a time. It is shared by the controllers of all kinds.
type InFlight struct{ bytes *semaphore.Weighted }

// NewInFlight returns an unused InFlight.
func NewInFlight() *InFlight { return &InFlight{semaphore.NewWeighted(capacity)} }

// Begin waits until a resource of a size may be reconciled. End has to be called afterwards. The largest go alone, and
// those that are too large: nothing is rendered for them, but the API server returns them as a whole when their status
// is written. The error is that of ctx.
func (f *InFlight) Begin(ctx context.Context, bytes int) (end func(), err error) {
	if f == nil || bytes <= small {
		return func() {}, nil
	}
	weight := int64(min(bytes, capacity))
	if err := f.bytes.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	return func() { f.bytes.Release(weight) }, nil
}

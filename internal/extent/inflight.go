package extent

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// small resources are reconciled whatever else is: all workers together need no more for them than for one of the largest.
const small = 4 << 10

// capacity is how many bytes the larger resources may have that are reconciled at a time. A reconcile needs some 300 times as much.
const capacity = 2 * Resource

// InFlight bounds what reconciles take together: however many resources change, or are read at a start, only so much of the larger ones is
// worked on at a time. It is shared by the controllers of all kinds.
type InFlight struct{ bytes *semaphore.Weighted }

// NewInFlight returns one that nothing takes anything of.
func NewInFlight() *InFlight { return &InFlight{semaphore.NewWeighted(capacity)} }

// Begin waits until a resource of so many bytes may be reconciled. Whoever is done calls end. Those that are too large go alone: nothing is
// rendered for them, but the API server answers writes of their status with all of them. The error is that of ctx.
func (f *InFlight) Begin(ctx context.Context, bytes int) (end func(), err error) {
	if f == nil || bytes <= small {
		return func() {}, nil
	}
	weight := int64(bytes)
	if bytes > Resource {
		weight = capacity
	}
	if err := f.bytes.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	return func() { f.bytes.Release(weight) }, nil
}

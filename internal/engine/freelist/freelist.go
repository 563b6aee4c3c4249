// Package freelist keeps values that are dear to make for their next use. A sync.Pool drops its values at every second
// garbage collection, and the manager collects more often than it uses some of them.
package freelist

import "runtime"

// most is how many values a list keeps. More are in use only while more goroutines run than there are cores.
const most = 4

// List has values that nobody uses. It is safe for concurrent use.
type List[T any] struct {
	free   chan T
	create func() T
}

// New returns an empty list; create makes a value if there is none in it.
func New[T any](create func() T) *List[T] {
	return &List[T]{free: make(chan T, min(most, runtime.GOMAXPROCS(0))), create: create}
}

// Get returns a value that nobody else uses.
func (l *List[T]) Get() T {
	select {
	case value := <-l.free:
		return value
	default:
		return l.create()
	}
}

// Put gives a value back. The caller does not use it from here on.
func (l *List[T]) Put(value T) {
	select {
	case l.free <- value:
	default: // there are enough
	}
}

// Package freelist keeps values that are costly to make for their next use. A sync.Pool drops its values at every
// second garbage collection, and the manager collects more often than it uses some of them.
package freelist

import (
	"slices"
	"sync"
)

// most is how many values a list keeps, of all kinds together: they are memory that no collection frees, 1.8 MiB for
// one more program and compressor.
const most = 2

// List has the values that were given back last, each of a kind. The zero value is empty. It is safe for concurrent
// use.
type List[Kind comparable, Value any] struct {
	mu   sync.Mutex
	free []entry[Kind, Value]
}

type entry[Kind comparable, Value any] struct {
	kind  Kind
	value Value
}

// Get returns a value of a kind that nobody else uses; found is false if there is none.
func (l *List[Kind, Value]) Get(kind Kind) (value Value, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.free, func(e entry[Kind, Value]) bool { return e.kind == kind })
	if at < 0 {
		return value, false
	}
	value = l.free[at].value
	l.free = slices.Delete(l.free, at, at+1)
	return value, true
}

// Put gives a value back. The caller does not use it from here on.
func (l *List[Kind, Value]) Put(kind Kind, value Value) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) == most {
		l.free = slices.Delete(l.free, 0, 1)
	}
	l.free = append(l.free, entry[Kind, Value]{kind, value})
}

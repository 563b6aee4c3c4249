package queue

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Turns hand out what a rate limit allows, to namespaces in turn: however many resources of one namespace ask for it,
// one of another comes next. A caller that has to wait asks again, until it has its turn. Nil allows everything. It
// is safe for concurrent use.
type Turns struct {
	limit flowcontrol.PassiveRateLimiter

	mu      sync.Mutex
	waiting *order
	// granted are those whose turn it was since they asked.
	granted map[reconcile.Request]bool
}

// NewTurns returns the turns of a rate limit.
func NewTurns(limit flowcontrol.PassiveRateLimiter) *Turns {
	return &Turns{limit: limit, waiting: newOrder(), granted: map[reconcile.Request]bool{}}
}

// Take reports whether it is the turn of a resource.
func (t *Turns) Take(name types.NamespacedName) bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	asks := reconcile.Request{NamespacedName: name}
	if !t.granted[asks] && !t.waiting.raise(asks, 0) {
		t.waiting.expect(asks, 0)
		t.waiting.Push(asks)
	}
	for t.waiting.Len() > 0 && t.limit.TryAccept() {
		next := t.waiting.Pop()
		t.waiting.popped(next)
		t.granted[next] = true
	}
	mine := t.granted[asks]
	delete(t.granted, asks)
	return mine
}

// Forget drops the turn of a resource that is gone.
func (t *Turns) Forget(name types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.granted, reconcile.Request{NamespacedName: name})
}

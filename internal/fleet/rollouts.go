package fleet

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Rollouts limits how many resources roll their pods at a time if the operator causes it: a new chart or a new version of the operator.
// They wait in one queue, in the order in which they asked: the first ones roll, the others wait. Rollouts by users are never held up.
// It is safe for concurrent use.
type Rollouts struct {
	// Limit of concurrent rollouts.
	Limit int

	mu     sync.Mutex
	line   []Candidate
	queues map[schema.GroupKind]rolloutQueue
}

// Candidate is a resource that is about to roll its pods.
type Candidate struct {
	schema.GroupKind
	types.NamespacedName
}

type rolloutQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Turn is the position of a resource in the queue.
type Turn struct {
	// Waits says that the limit of concurrent rollouts is reached.
	Waits bool
	// Ahead is how many others wait before it.
	Ahead int
}

// turn returns the turn of the resource at a position in the queue.
func (r *Rollouts) turn(place int) Turn {
	return Turn{Waits: place >= r.Limit, Ahead: max(0, place-r.Limit)}
}

// Begin adds a resource to the queue, unless it is there, and returns its turn.
func (r *Rollouts) Begin(who Candidate) Turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	place := slices.Index(r.line, who)
	if place < 0 {
		place = len(r.line)
		r.line = append(r.line, who)
	}
	return r.turn(place)
}

// End removes a resource from the queue, if it is there: its pods are rolled, or no longer have to be. Those behind it whose reported turn
// changes are reconciled: the one that may begin now, and one at each step of Ahead. A resource that was created again
// under the same name has the position of the one before.
func (r *Rollouts) End(who Candidate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.Index(r.line, who)
	if left < 0 {
		return
	}
	r.line = slices.Delete(r.line, left, left+1)
	for place := left; place < len(r.line); place++ {
		if before, now := r.turn(place+1), r.turn(place); before.Waits != now.Waits || before.String() != now.String() {
			r.wake(r.line[place])
		}
	}
}

// steps are the reported values of Ahead: with more of them, a status would be written for each resource that leaves the queue.
var steps = []int{0, 1, 2, 5, 10, 50, 100, 500, 1000, 5000, 10000}

// String returns how many others wait before it, in steps: 1,000 waiting resources write eight statuses each, however long it takes.
func (t Turn) String() string {
	at, exact := slices.BinarySearch(steps, t.Ahead)
	switch {
	case !exact:
		return fmt.Sprintf("more than %d others before it", steps[at-1])
	case t.Ahead == 0:
		return "no other before it"
	case t.Ahead == 1:
		return "1 other before it"
	case t.Ahead == 2:
		return "2 others before it"
	}
	return fmt.Sprintf("more than %d others before it", steps[at-1])
}

// Wake returns the source of requests for resources of a kind whose turn has changed.
func (r *Rollouts) Wake(kind schema.GroupKind) source.Source {
	return source.Func(func(_ context.Context, queue rolloutQueue) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.queues == nil {
			r.queues = map[schema.GroupKind]rolloutQueue{}
		}
		r.queues[kind] = queue
		return nil
	})
}

func (r *Rollouts) wake(who Candidate) {
	if queue := r.queues[who.GroupKind]; queue != nil {
		queue.Add(reconcile.Request{NamespacedName: who.NamespacedName})
	}
}

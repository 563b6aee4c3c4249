// Package queue owns the order in which requests to reconcile are handed out: namespaces take turns, so that no tenant
// waits for another one's changes to end, and within a namespace requests that users wait for precede bookkeeping.
//
// Queue is client-go's work queue, which keeps requests unique and never hands one out twice at a time, with an order
// of its own (order.go) and the delays and priorities that controller-runtime requests. It does not know the objects
// that are reconciled.
package queue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Queue replaces controller-runtime's priority queue with the same guarantees, except for the order: a request is
// queued once, at the highest priority and the earliest time requested. Requests below priority 0 are bookkeeping. It
// is safe for concurrent use.
//
// A delayed request counts neither as queued nor for the order: it gets its place when its time has come.
// Metrics are those of client-go, so workqueue_depth has no priority and workqueue_retries_total is not counted.
type Queue struct {
	workqueue.TypedInterface[reconcile.Request]
	limiter workqueue.TypedRateLimiter[reconcile.Request]
	order   *order

	// mu guards delays and makes an addition one step. It is taken before the locks of the work queue and the order.
	mu sync.Mutex
	// delays holds the delayed requests. None of them is in the order.
	delays map[reconcile.Request]*delay
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = &Queue{}

// delay is a delayed request.
type delay struct {
	until    time.Time
	priority int
	timer    *time.Timer
}

// New returns the queue of a controller. Metrics are labeled with the name; without one, there are none.
func New(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) *Queue {
	order := newOrder()
	return &Queue{
		TypedInterface: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: order}),
		limiter:        limiter,
		order:          order,
		delays:         map[reconcile.Request]*delay{},
	}
}

// AddWithOpts queues requests. If both a delay and the rate limiter apply, the shorter time counts.
func (q *Queue) AddWithOpts(options priorityqueue.AddOpts, requests ...reconcile.Request) {
	if q.ShuttingDown() {
		return
	}
	for _, request := range requests {
		after := options.After
		if options.RateLimited {
			if limit := q.limiter.When(request); after == 0 || limit < after {
				after = limit
			}
		}
		q.add(request, ptr.Deref(options.Priority, 0), after)
	}
}

func (q *Queue) add(request reconcile.Request, priority int, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.order.raise(request, priority) {
		return // queued, which is sooner than any delay
	}
	until := time.Now().Add(after)
	if waiting := q.delays[request]; waiting != nil {
		priority = max(priority, waiting.priority)
		if after > 0 && !until.Before(waiting.until) {
			waiting.priority = priority
			return
		}
		waiting.timer.Stop()
		delete(q.delays, request)
	}
	if after <= 0 {
		q.enqueue(request, priority)
		return
	}
	d := &delay{until: until, priority: priority}
	d.timer = time.AfterFunc(after, func() { q.due(request, d) })
	q.delays[request] = d
}

// due queues a request whose time has come, unless its delay was replaced meanwhile.
func (q *Queue) due(request reconcile.Request, d *delay) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.delays[request] != d {
		return
	}
	delete(q.delays, request)
	q.enqueue(request, d.priority)
}

// enqueue queues a request that is neither queued nor delayed. The order is updated first: the work queue pushes the
// request at once, or when its current reconcile is done.
func (q *Queue) enqueue(request reconcile.Request, priority int) {
	q.order.expect(request, priority)
	q.TypedInterface.Add(request)
}

// GetWithPriority waits for a request and returns it with its requested priority. It reports shutdown
// as soon as the queue is shut down, whatever is queued.
func (q *Queue) GetWithPriority() (request reconcile.Request, priority int, shutdown bool) {
	request, shutdown = q.TypedInterface.Get()
	if shutdown || q.ShuttingDown() {
		return reconcile.Request{}, 0, true
	}
	return request, q.order.popped(request), false
}

// Get is GetWithPriority without the priority.
func (q *Queue) Get() (request reconcile.Request, shutdown bool) {
	request, _, shutdown = q.GetWithPriority()
	return request, shutdown
}

// UsersWait reports whether requests that users wait for are queued.
func (q *Queue) UsersWait() bool { return q.order.has(objects) }

// Add queues a request at priority 0.
func (q *Queue) Add(request reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{}, request)
}

// AddAfter queues a request at priority 0 once a time is over.
func (q *Queue) AddAfter(request reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, request)
}

// AddRateLimited queues a request at priority 0 when the rate limiter allows.
func (q *Queue) AddRateLimited(request reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, request)
}

// Forget resets the rate limiter for a request.
func (q *Queue) Forget(request reconcile.Request) { q.limiter.Forget(request) }

// NumRequeues returns how often a request was rate limited since it was forgotten.
func (q *Queue) NumRequeues(request reconcile.Request) int { return q.limiter.NumRequeues(request) }

// ShutDown ends the queue: nothing is added or handed out afterwards.
func (q *Queue) ShutDown() {
	q.TypedInterface.ShutDown()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, waiting := range q.delays {
		waiting.timer.Stop()
	}
	clear(q.delays)
}

// ShutDownWithDrain is ShutDown, as in controller-runtime's priority queue: controllers wait for their workers
// themselves.
func (q *Queue) ShutDownWithDrain() { q.ShutDown() }

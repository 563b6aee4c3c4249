package queue

import (
	"container/list"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// patience is how many requests of a namespace that users wait for may be handed out before its bookkeeping, one after
// the other. Records and statuses of a namespace that changes all the time are written at least that often; the higher
// it is, the sooner all objects of many changes are written.
const patience = 32

// class is the class of a request by who waits for it.
type class int

const (
	objects class = iota // users wait for them
	bookkeeping
	classes // number of classes
)

func classOf(priority int) class {
	if priority < 0 {
		return bookkeeping
	}
	return objects
}

// order decides which request comes next. It implements workqueue.Queue.
//
// Namespaces with requests are in two queues: one for those in which users wait for something, one for those with
// bookkeeping only. The queues take turns, and so do the namespaces of a queue: one hands out a request and goes to the
// end. Between two turns of a namespace, each other one of its queue has one, and the other queue as many as they have
// together, however many requests there are. So bookkeeping everywhere, as when a node fails, does not delay what users
// wait for, and one namespace that changes all the time does not delay the bookkeeping of others.
type order struct {
	mu sync.Mutex // additions look at the order without the lock of the work queue
	// expected holds requests that were added and not yet handed out. Those that are being reconciled have no place yet.
	expected map[reconcile.Request]*place
	// handedOut holds the priorities of requests on their way to a worker.
	handedOut  map[reconcile.Request]int
	namespaces map[string]*namespace // those with requests in lines
	lines      [classes]list.List    // of *namespace
	turn       class                 // the line whose turn it is
	length     int
}

// place is the position of a request.
type place struct {
	request  reconcile.Request
	priority int
	element  *list.Element // in the list of its class in its namespace; nil while it has no place yet
}

// namespace holds the requests of one namespace.
type namespace struct {
	name    string
	queued  [classes]list.List // of *place
	line    class
	element *list.Element // in that line
	// passed counts requests that were handed out ahead of waiting bookkeeping.
	passed int
}

func newOrder() *order {
	return &order{
		expected:   map[reconcile.Request]*place{},
		handedOut:  map[reconcile.Request]int{},
		namespaces: map[string]*namespace{},
	}
}

// expect announces a request that is going to be pushed.
func (o *order) expect(request reconcile.Request, priority int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expected[request] = &place{request: request, priority: priority}
}

// raise raises a request to at least a priority, and reports whether it was expected at all. A request that
// becomes more than bookkeeping goes to the end of those that users wait for.
func (o *order) raise(request reconcile.Request, priority int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.expected[request]
	if p == nil {
		return false
	}
	before := classOf(p.priority)
	p.priority = max(p.priority, priority)
	if p.element != nil && classOf(p.priority) != before {
		n := o.namespaces[request.Namespace]
		n.queued[before].Remove(p.element)
		o.enter(n, p)
	}
	return true
}

// popped returns the priority of a request that was just popped.
func (o *order) popped(request reconcile.Request) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	priority := o.handedOut[request]
	delete(o.handedOut, request)
	return priority
}

// Touch implements workqueue.Queue. Queued requests are raised instead.
func (o *order) Touch(reconcile.Request) {}

// Push implements workqueue.Queue.
func (o *order) Push(request reconcile.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.namespaces[request.Namespace]
	if n == nil {
		n = &namespace{name: request.Namespace}
		o.namespaces[n.name] = n
	}
	o.enter(n, o.expected[request])
	o.length++
}

// Len implements workqueue.Queue.
func (o *order) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.length
}

// has reports whether requests of a class are queued. Namespaces with some are in its line.
func (o *order) has(of class) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines[of].Len() > 0
}

// Pop implements workqueue.Queue.
func (o *order) Pop() reconcile.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	line := o.turn
	if o.lines[line].Len() == 0 {
		line = other(line)
	}
	o.turn = other(line)

	front := o.lines[line].Front()
	n := front.Value.(*namespace)
	p := n.next()
	o.lines[line].Remove(front)
	n.element = nil
	o.queue(n)

	o.length--
	delete(o.expected, p.request)
	o.handedOut[p.request] = p.priority
	return p.request
}

// enter puts a request to the end of its class in its namespace.
func (o *order) enter(n *namespace, p *place) {
	p.element = n.queued[classOf(p.priority)].PushBack(p)
	o.queue(n)
}

// queue adds a namespace to the end of the queue where it belongs, unless it is there. A namespace without requests is
// forgotten.
func (o *order) queue(n *namespace) {
	line := objects
	if n.queued[objects].Len() == 0 {
		line = bookkeeping
	}
	if n.element != nil {
		if n.line == line {
			return
		}
		o.lines[n.line].Remove(n.element)
	}
	if n.queued[line].Len() == 0 {
		delete(o.namespaces, n.name)
		return
	}
	n.line, n.element = line, o.lines[line].PushBack(n)
}

// next takes out the request that comes next in the namespace.
func (n *namespace) next() *place {
	from := objects
	switch {
	case n.queued[bookkeeping].Len() == 0:
		n.passed = 0
	case n.queued[objects].Len() == 0 || n.passed == patience:
		from, n.passed = bookkeeping, 0
	default:
		n.passed++
	}
	return n.queued[from].Remove(n.queued[from].Front()).(*place)
}

func other(line class) class { return 1 - line }

package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Whatever is added in whatever order: each request is handed out once for all additions before, at its highest priority,
// and within a number of others that only depends on how many namespaces and requests there are.
func TestRandomOrders(t *testing.T) {
	const namespaces, requests = 5, 20
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		q := started(t)
		type state struct{ priority, pops int }
		queued, working, pops := map[reconcile.Request]*state{}, []reconcile.Request{}, 0
		bound := 2 * namespaces * requests * (patience + 1)
		take := func() {
			r, priority, _ := q.GetWithPriority()
			expected := queued[r]
			if expected == nil {
				t.Fatalf("seed %d: %s was not added", seed, r)
			}
			if priority != expected.priority || pops-expected.pops > bound {
				t.Errorf("seed %d: %s came at priority %d after %d others, want %d after at most %d", seed, r, priority, pops-expected.pops, expected.priority, bound)
			}
			delete(queued, r)
			working, pops = append(working, r), pops+1
		}
		done := func() {
			i := random.IntN(len(working))
			q.Done(working[i])
			working = append(working[:i], working[i+1:]...)
		}
		for range 5000 {
			switch k := random.IntN(10); {
			case k < 6:
				r, priority := request(fmt.Sprint(random.IntN(namespaces)), random.IntN(requests)), low*random.IntN(2)
				add(q, priority, 0, r)
				if queued[r] == nil {
					queued[r] = &state{priority, pops}
				}
				queued[r].priority = max(queued[r].priority, priority)
			case k < 8 && q.Len() > 0:
				take()
			case len(working) > 0:
				done()
			}
		}
		for len(queued) > 0 || len(working) > 0 {
			if q.Len() > 0 {
				take()
			} else if len(working) == 0 {
				t.Fatalf("seed %d: %d requests are lost", seed, len(queued))
			}
			done()
		}
	}
}

// BenchmarkAddAndGet takes and adds requests of a full queue; "plain" is controller-runtime's.
func BenchmarkAddAndGet(b *testing.B) {
	limiter := workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()
	for name, make := range map[string]func() priorityqueue.PriorityQueue[reconcile.Request]{
		"fair":  func() priorityqueue.PriorityQueue[reconcile.Request] { return New("", limiter) },
		"plain": func() priorityqueue.PriorityQueue[reconcile.Request] { return priorityqueue.New[reconcile.Request]("") },
	} {
		b.Run(name, func(b *testing.B) {
			q := make()
			defer q.ShutDown()
			for i := range 1000 {
				add(q, low*(i%2), 0, request(fmt.Sprint(i%10), i))
			}
			b.ReportAllocs()
			for b.Loop() {
				r, priority, _ := q.GetWithPriority()
				add(q, priority, 0, r)
				q.Done(r)
			}
		})
	}
}

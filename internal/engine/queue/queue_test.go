package queue

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const low = handler.LowPriority

func request(namespace string, i int) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)}}
}

// started returns a queue that ends with the test.
func started(t testing.TB) *Queue {
	t.Helper()
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute)
	q := New("", limiter)
	t.Cleanup(q.ShutDown)
	return q
}

func add(q priorityqueue.PriorityQueue[reconcile.Request], priority int, after time.Duration, requests ...reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority), After: after}, requests...)
}

// drain takes all that is queued and returns it as namespace/name.
func drain(t *testing.T, q *Queue) []string {
	t.Helper()
	var out []string
	for q.Len() > 0 {
		request, shutdown := q.Get()
		if shutdown {
			t.Fatal("the queue is shut down")
		}
		q.Done(request)
		out = append(out, request.String())
	}
	return out
}

func wantOrder(t *testing.T, q *Queue, want ...string) {
	t.Helper()
	if got := drain(t, q); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestARequestIsQueuedOnceAtTheHighestPriority(t *testing.T) {
	for name, test := range map[string]struct {
		priorities []int
		want       int
	}{
		"bookkeeping stays bookkeeping":        {[]int{low, low}, low},
		"it becomes what people wait for":      {[]int{low, 0}, 0},
		"it remains what people wait for":      {[]int{0, low}, 0},
		"priorities beyond these two are kept": {[]int{-5, low, 7, 3}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			q := started(t)
			for _, priority := range test.priorities {
				add(q, priority, 0, request("a", 1))
			}
			if got := q.Len(); got != 1 {
				t.Errorf("got the length %d, want 1", got)
			}
			if _, got, _ := q.GetWithPriority(); got != test.want {
				t.Errorf("got the priority %d, want %d", got, test.want)
			}
			if got := q.Len(); got != 0 {
				t.Errorf("got the length %d, want 0", got)
			}
		})
	}
}

func TestARequestIsNotHandedOutTwiceAtATime(t *testing.T) {
	q := started(t)
	q.Add(request("a", 1))
	first, _ := q.Get()
	add(q, low, 0, first)
	add(q, 0, 0, first)
	add(q, low, time.Hour, first) // it is asked for at once already
	if got := q.Len(); got != 0 {
		t.Fatalf("got the length %d during the reconcile, want 0", got)
	}
	q.Done(first)
	again, priority, _ := q.GetWithPriority()
	if again != first || priority != 0 {
		t.Errorf("got %s at priority %d, want %s at 0", again, priority, first)
	}
	q.Done(again)
	if got := q.Len(); got != 0 {
		t.Errorf("got the length %d at the end, want 0", got)
	}
}

func TestMetricsAreThoseOfControllerRuntime(t *testing.T) {
	const name = "a-test"
	q := New(name, workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	for _, want := range []float64{1, 0} {
		if want == 1 {
			q.Add(request("a", 1))
		} else {
			q.Get()
		}
		if got := depth(t, name); got != want {
			t.Errorf("got the workqueue_depth %v, want %v", got, want)
		}
	}
}

// depth returns the workqueue_depth of a controller as controller-runtime shows it; -1 if there is none.
func depth(t *testing.T, controller string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if family.GetName() == "workqueue_depth" && label.GetName() == "controller" && label.GetValue() == controller {
					return metric.GetGauge().GetValue()
				}
			}
		}
	}
	return -1
}

func TestConcurrentUse(t *testing.T) {
	q := started(t)
	const workers, requests, times = 4, 50, 200
	var reconciles, changes [requests]atomic.Int64
	var busy [requests]atomic.Bool
	var writers, readers sync.WaitGroup
	for range workers {
		readers.Go(func() {
			for {
				r, priority, shutdown := q.GetWithPriority()
				if shutdown {
					return
				}
				var i int
				_, _ = fmt.Sscan(r.Name, &i)
				if !busy[i].CompareAndSwap(false, true) {
					t.Errorf("%s was handed out twice at a time", r)
				}
				reconciles[i].Store(changes[i].Load())
				busy[i].Store(false)
				if priority == 0 {
					add(q, low, time.Microsecond, r)
				}
				q.Done(r)
			}
		})
	}
	for w := range workers {
		writers.Go(func() {
			for n := range times {
				i := (n*7 + w) % requests
				changes[i].Add(1)
				add(q, low*(n%2), time.Duration(n%3)*time.Microsecond, request(fmt.Sprint(i%5), i))
			}
		})
	}
	writers.Wait()
	deadline := time.Now().Add(time.Minute)
	for i := range requests {
		for reconciles[i].Load() != changes[i].Load() && time.Now().Before(deadline) {
			runtime.Gosched()
		}
		if got, want := reconciles[i].Load(), changes[i].Load(); got != want {
			t.Errorf("request %d was last handed out at change %d of %d", i, got, want)
		}
	}
	q.ShutDown()
	readers.Wait()
}

func TestWhetherUsersWait(t *testing.T) {
	q := started(t)
	says := func(want bool, when string) {
		t.Helper()
		if got := q.UsersWait(); got != want {
			t.Errorf("%s: got %t, want %t", when, got, want)
		}
	}
	says(false, "at first")
	add(q, low, 0, request("a", 1))
	says(false, "with bookkeeping")
	add(q, 0, time.Hour, request("a", 2))
	says(false, "with a request that is not due")
	add(q, 0, 0, request("a", 1))
	says(true, "when bookkeeping becomes more")
	r, _ := q.Get()
	says(false, "while the request is being reconciled")
	q.Done(r)
}

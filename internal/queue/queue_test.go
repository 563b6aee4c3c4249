package queue

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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
	q := New("", limiter).(*Queue)
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

func TestDelays(t *testing.T) {
	one := request("a", 1)
	for name, test := range map[string]struct {
		add      func(*Queue)
		after    time.Duration // until it is queued
		priority int
	}{
		"it is queued when its time has come": {func(q *Queue) { q.AddAfter(one, time.Minute) }, time.Minute, 0},
		"its priority is kept":                {func(q *Queue) { add(q, low, time.Minute, one) }, time.Minute, low},
		"the shorter of two delays counts, whichever comes first": {func(q *Queue) {
			add(q, low, time.Minute, one)
			add(q, low, time.Hour, one)
		}, time.Minute, low},
		"the shorter of two delays counts, whichever comes last": {func(q *Queue) {
			add(q, low, time.Hour, one)
			add(q, low, time.Minute, one)
		}, time.Minute, low},
		"the higher of two priorities counts": {func(q *Queue) {
			add(q, low, time.Minute, one)
			add(q, 0, time.Hour, one)
		}, time.Minute, 0},
		"what is to be done at once has no delay any more": {func(q *Queue) {
			add(q, 0, time.Minute, one)
			add(q, low, 0, one)
		}, 0, 0},
		"what is queued is not delayed": {func(q *Queue) {
			add(q, low, 0, one)
			add(q, 0, time.Minute, one)
		}, 0, 0},
		"failures wait longer each time": {func(q *Queue) {
			q.limiter.When(one)
			q.AddRateLimited(one)
		}, 2 * time.Second, 0},
		"the shorter of delay and rate limit counts": {func(q *Queue) {
			q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, After: time.Minute}, one)
		}, time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, began := started(t), time.Now()
				test.add(q)
				got, priority, _ := q.GetWithPriority()
				if after := time.Since(began); got != one || after != test.after || priority != test.priority {
					t.Errorf("got %s after %s at %d, want it after %s at %d", got, after, priority, test.after, test.priority)
				}
				q.Done(got)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if got := q.Len(); got != 0 || len(q.delays) != 0 {
					t.Errorf("it was queued again: length %d, delays %d", got, len(q.delays))
				}
			})
		})
	}
}

// A tenant whose requests all wait for their time has not taken a place in the order with that.
func TestADelayedRequestHasItsPlaceFromTheTimeThatItIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := started(t)
		for i := range 3 {
			add(q, 0, time.Minute, request("a", i))
		}
		time.Sleep(time.Second)
		add(q, 0, time.Minute, request("b", 1))
		time.Sleep(time.Minute - 2*time.Second)
		q.Add(request("c", 1))
		time.Sleep(time.Hour)
		synctest.Wait()
		got := drain(t, q)
		if len(got) != 5 || got[0] != "c/1" || got[2] != "b/1" {
			t.Errorf("got %v, want c/1, one of a, b/1, and the others of a", got)
		}
	})
}

func TestShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := started(t)
		done := make(chan bool)
		go func() {
			_, shutdown := q.Get()
			done <- shutdown
		}()
		synctest.Wait()
		q.AddAfter(request("a", 1), time.Minute)
		q.ShutDown()
		if !<-done {
			t.Error("who waited got a request, want the end")
		}
		if _, shutdown := q.Get(); !shutdown {
			t.Error("who asks afterwards got a request, want the end")
		}
		q.Add(request("a", 2))
		q.AddAfter(request("a", 3), time.Minute)
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := q.Len(); got != 0 || len(q.delays) != 0 {
			t.Errorf("got the length %d, delays %d afterwards, want none", got, len(q.delays))
		}
	})
	q := started(t)
	q.Add(request("a", 1))
	q.ShutDown()
	if request, shutdown := q.Get(); !shutdown {
		t.Errorf("got %s, which was queued, want the end", request)
	}
}

func TestMetricsAreThoseOfControllerRuntime(t *testing.T) {
	q := New("a-test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()).(*Queue)
	t.Cleanup(q.ShutDown)
	q.Add(request("a", 1))
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "workqueue_depth" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == "a-test" && metric.GetGauge().GetValue() == 1 {
					return
				}
			}
		}
	}
	t.Error("got no workqueue_depth of 1, want one of the controller")
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
			time.Sleep(time.Millisecond)
		}
		if got, want := reconciles[i].Load(), changes[i].Load(); got != want {
			t.Errorf("request %d was last handed out at change %d of %d", i, got, want)
		}
	}
	q.ShutDown()
	readers.Wait()
}

package queue

import (
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

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

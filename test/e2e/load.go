package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/example/appservice-operator/test/try"
)

// load is a steady stream of requests.
type load struct {
	cancel func()
	group  sync.WaitGroup

	mutex    sync.Mutex
	requests int
	failed   []error
}

const (
	users = 4
	// pause is the time between two requests of one user.
	pause = 20 * time.Millisecond
	// fewest is the number of requests that show something.
	fewest = 100
)

// startLoad sends requests to a node port until the load is stopped or the context ends.
func (s *suite) startLoad(ctx context.Context, nodePort int) *load {
	ctx, cancel := context.WithCancel(ctx)
	l := &load{cancel: cancel}
	for range users {
		l.group.Go(func() {
			ticker := time.NewTicker(pause)
			defer ticker.Stop()
			for ctx.Err() == nil {
				// A request that has begun is finished: stopping is not a failure.
				l.note(s.request(context.WithoutCancel(ctx), nodePort))
				select {
				case <-ticker.C:
				case <-ctx.Done():
				}
			}
		})
	}
	return l
}

func (l *load) note(err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.requests++
	if err != nil {
		l.failed = append(l.failed, err)
	}
}

// stop ends the load and returns the number of requests, and an error if any has failed.
func (l *load) stop() (int, error) {
	l.cancel()
	l.group.Wait()
	if len(l.failed) > 0 {
		return l.requests, fmt.Errorf("%d of %d requests failed, the first: %w", len(l.failed), l.requests, l.failed[0])
	}
	return l.requests, nil
}

// underLoad does something while requests come in, none of which may fail.
func (s *suite) underLoad(ctx context.Context, nodePort int, do func()) {
	l := s.startLoad(ctx, nodePort)
	err := try.Catch(do)
	requests, failed := l.stop()
	try.Do(errors.Join(err, failed))
	if requests < fewest {
		try.Fail("there were %d requests only, want at least %d", requests, fewest)
	}
	s.say("     %d requests, none failed", requests)
}

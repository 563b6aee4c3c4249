package main

import (
	"context"
	"time"
)

// begin opens a phase. The returned function closes it: requests and CPU are counted in between.
func (m *match) begin(ctx context.Context, name string) (*Phase, func() error, error) {
	phase := &Phase{Name: name}
	m.result.Phases = append(m.result.Phases, phase)
	user := m.contender.account.user()
	before, err := m.audit.of(user)
	if err != nil {
		return nil, nil, err
	}
	process := m.process
	cpu, err := m.cpu()
	if err != nil {
		return nil, nil, err
	}
	if err := m.mark(name, ".cpu.pprof"); err != nil {
		return nil, nil, err
	}
	reconciles, err := m.reconciles(ctx)
	if err != nil {
		return nil, nil, err
	}
	finish := func() error {
		if err := m.mark(name, ".heap.pprof"); err != nil {
			return err
		}
		now, err := m.audit.of(user)
		if err != nil {
			return err
		}
		made := now.since(before)
		phase.Requests, phase.Total, phase.Writes = made, made.total(), made.writes()
		used, err := m.cpu()
		if process != m.process {
			cpu, reconciles = 0, 0 // another process, which is counted from its start
		}
		phase.CPU = (used - cpu).Seconds()
		if err != nil {
			return err
		}
		all, err := m.reconciles(ctx)
		phase.Reconciles = int(all - reconciles)
		return err
	}
	return phase, finish, nil
}

// reconciles is the number of reconciles of the running process.
func (m *match) reconciles(ctx context.Context) (float64, error) {
	if m.process == nil {
		return 0, nil
	}
	gauges, err := m.process.gauges(ctx)
	return gauges.reconciles, err
}

func (m *match) cpu() (time.Duration, error) {
	if m.process == nil {
		return 0, nil
	}
	return m.process.cpu()
}

// quiet returns when the contender has made no request and no reconcile for a second, or after 20 s for each 200 resources:
// some never rest.
func (m *match) quiet(ctx context.Context) error {
	most := time.Duration(max(200, m.n)) * 100 * time.Millisecond
	deadline := time.Now().Add(most)
	last, since := [2]float64{-1}, time.Now()
	for time.Now().Before(deadline) {
		now, busy, err := m.activity(ctx)
		if err != nil {
			return err
		}
		if now != last || busy {
			last, since = now, time.Now()
		}
		if time.Since(since) >= time.Second {
			return nil
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
	m.say("it does not come to rest: going on after %s", most)
	return nil
}

// activity is the number of requests and reconciles so far, and whether something is under way.
func (m *match) activity(ctx context.Context) (now [2]float64, busy bool, err error) {
	made, err := m.audit.of(m.contender.account.user())
	if err != nil {
		return now, false, err
	}
	now[0] = float64(made.since(nil).total())
	if m.process == nil {
		return now, false, nil
	}
	gauges, err := m.process.gauges(ctx)
	now[1] = gauges.reconciles
	return now, gauges.waiting > 0, err
}

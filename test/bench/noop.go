package main

import (
	"context"
	"time"

	"github.com/example/appservice-operator/test/bench/load"
)

const (
	noopRounds = 5
	noopFor    = 20 * time.Second // no round begins later
)

// noop causes reconciles without changes, by changes of an annotation.
func (m *match) noop(ctx context.Context) error {
	reading, err := m.costOfReading(ctx)
	if err != nil {
		return err
	}
	phase, finish, err := m.begin(ctx, "noop")
	if err != nil {
		return err
	}
	before, err := m.process.gauges(ctx)
	if err != nil {
		return err
	}
	start, now, readings := time.Now(), before, 1.0
	for round := range noopRounds {
		if time.Since(start) > noopFor {
			break
		}
		target := now.reconciles + float64(m.n)
		touch := func(ctx context.Context, name string) error { return m.resources().Touch(ctx, name, round) }
		if err := load.Each(ctx, m.names, touch); err != nil {
			return err
		}
		for now.reconciles < target || now.waiting > 0 {
			if err := pause(ctx, time.Second); err != nil { // reading disturbs: seldom
				return err
			}
			if now, err = m.process.gauges(ctx); err != nil {
				return err
			}
			readings++
			if time.Since(start) > 3*noopFor {
				break
			}
		}
	}
	phase.Seconds = time.Since(start).Seconds()
	if err := finish(); err != nil {
		return err
	}
	reconciles := now.reconciles - before.reconciles
	m.result.NoOp = &NoOp{Reconciles: int(reconciles)}
	if reconciles > 0 {
		m.result.NoOp.Requests = max(0, float64(phase.Total)-m.idleRate*phase.Seconds) / reconciles
		m.result.NoOp.CPUMillis = 1000 * phase.CPU / reconciles
		m.result.NoOp.KiB = (now.allocated - before.allocated - reading*readings) / reconciles / 1024
	}
	m.say("%-12s %d reconciles, each %.2f requests, CPU %.2f ms, %.0f KiB allocated", "noop", m.result.NoOp.Reconciles,
		m.result.NoOp.Requests, m.result.NoOp.CPUMillis, m.result.NoOp.KiB)
	return nil
}

// costOfReading returns how many bytes are allocated each time that the metrics are read.
func (m *match) costOfReading(ctx context.Context) (float64, error) {
	const times = 5
	before, err := m.process.gauges(ctx)
	if err != nil {
		return 0, err
	}
	after := before
	for range times {
		if after, err = m.process.gauges(ctx); err != nil {
			return 0, err
		}
	}
	return (after.allocated - before.allocated) / times, nil
}

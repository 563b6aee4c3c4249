package main

import (
	"context"
	"time"

	"github.com/example/appservice-operator/test/bench/load"
	"github.com/example/appservice-operator/test/try"
)

const (
	noopRounds = 5
	noopFor    = 20 * time.Second // no round begins later
)

// noop causes reconciles without changes, by changes of an annotation.
func (m *match) noop(ctx context.Context) {
	reading := m.costOfReading(ctx)
	phase, finish := m.begin(ctx, "noop")
	before := try.Get(m.process.gauges(ctx))
	start, now, readings := time.Now(), before, 1.0
	for round := range noopRounds {
		if time.Since(start) > noopFor {
			break
		}
		target := now.reconciles + float64(m.n)
		touch := func(ctx context.Context, name string) error { return m.resources().Touch(ctx, name, round) }
		try.Do(load.Each(ctx, m.names, touch))
		for now.reconciles < target || now.waiting > 0 {
			pause(ctx, time.Second)
			now = try.Get(m.process.gauges(ctx))
			readings++
			if time.Since(start) > 3*noopFor {
				break
			}
		}
	}
	phase.Seconds = time.Since(start).Seconds()
	finish()
	reconciles := now.reconciles - before.reconciles
	m.result.NoOp = &NoOp{Reconciles: int(reconciles)}
	if reconciles > 0 {
		m.result.NoOp.Requests = max(0, float64(phase.Total)-m.idleRate*phase.Seconds) / reconciles
		m.result.NoOp.CPUMillis = 1000 * phase.CPU / reconciles
		m.result.NoOp.KiB = (now.allocated - before.allocated - reading*readings) / reconciles / 1024
	}
	m.say("%-12s %d reconciles, each %.2f requests, CPU %.2f ms, %.0f KiB allocated", "noop", m.result.NoOp.Reconciles,
		m.result.NoOp.Requests, m.result.NoOp.CPUMillis, m.result.NoOp.KiB)
}

// costOfReading returns how many bytes are allocated each time that the metrics are read.
func (m *match) costOfReading(ctx context.Context) float64 {
	const times = 5
	before := try.Get(m.process.gauges(ctx))
	after := before
	for range times {
		after = try.Get(m.process.gauges(ctx))
	}
	return (after.allocated - before.allocated) / times
}

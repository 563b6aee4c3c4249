package main

import (
	"context"
	"time"
)

// restart ends the contender and starts it again, with everything as desired. It has settled when it has reconciled everything once and makes no
// more reconciles.
func (m *match) restart(ctx context.Context) error {
	phase, finish, err := m.begin(ctx, "restart")
	if err != nil {
		return err
	}
	m.process.stop()
	if m.process, err = m.start(m.contender, m.kubeconfig); err != nil {
		return err
	}
	settled, reconciles, err := m.settled(ctx)
	if err != nil {
		return err
	}
	if err := finish(); err != nil {
		return err
	}
	phase.Seconds, phase.Wanted, phase.Converged = settled.Seconds(), m.n, min(m.n, reconciles)
	phase.PerSecond = float64(phase.Converged) / phase.Seconds
	m.say("%-12s settled after %.2f s, %d reconciles, %d requests, %d writes, CPU %.2f s", "restart", phase.Seconds, reconciles,
		phase.Total, phase.Writes, phase.CPU)
	return nil
}

// settled waits for a second without a reconcile and returns when that second began.
func (m *match) settled(ctx context.Context) (after time.Duration, reconciles int, err error) {
	const restFor = time.Second
	last := gauges{reconciles: -1}
	for time.Since(m.process.started) < m.patience() {
		if err := m.process.alive(); err != nil {
			return 0, 0, err
		}
		now, err := m.process.gauges(ctx)
		elapsed := time.Since(m.process.started)
		if err == nil && (now.reconciles != last.reconciles || now.waiting > 0) {
			last, after = now, elapsed
		}
		if err == nil && int(now.reconciles) >= m.n && elapsed-after > restFor {
			break
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return 0, 0, err
		}
	}
	return after, int(last.reconciles), nil
}

package main

import (
	"context"
	"time"

	"github.com/example/appservice-operator/test/try"
)

// restart ends the contender and starts it again, with everything as desired. It has settled when it has reconciled everything once and makes no
// more reconciles.
func (m *match) restart(ctx context.Context) {
	phase, finish := m.begin(ctx, "restart")
	m.process.stop()
	m.process = m.start(m.contender, m.kubeconfig)
	settled, reconciles := m.settled(ctx)
	finish()
	phase.Seconds, phase.Wanted, phase.Converged = settled.Seconds(), m.n, min(m.n, reconciles)
	phase.PerSecond = float64(phase.Converged) / phase.Seconds
	m.say("%-12s settled after %.2f s, %d reconciles, %d requests, %d writes, CPU %.2f s", "restart", phase.Seconds, reconciles,
		phase.Total, phase.Writes, phase.CPU)
}

// settled waits for a second without a reconcile and returns when that second began.
func (m *match) settled(ctx context.Context) (after time.Duration, reconciles int) {
	const restFor = time.Second
	last := gauges{reconciles: -1}
	for time.Since(m.process.started) < m.patience() {
		try.Do(m.process.alive())
		now, err := m.process.gauges(ctx)
		elapsed := time.Since(m.process.started)
		if err == nil && (now.reconciles != last.reconciles || now.waiting > 0) {
			last, after = now, elapsed
		}
		if err == nil && int(now.reconciles) >= m.n && elapsed-after > restFor {
			break
		}
		pause(ctx, time.Duration(max(200, m.n))*time.Millisecond/4) // a look costs a contender CPU, for each resource
	}
	return after, int(last.reconciles)
}

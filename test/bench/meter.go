package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/processes"
)

// begin opens a phase. The returned function closes it: requests and CPU are counted in between.
func (m *match) begin(ctx context.Context, name string) (*Phase, func()) {
	phase := &Phase{Name: name}
	m.result.Phases = append(m.result.Phases, phase)
	user := m.contender.account.user()
	before := try.Get(m.audit.of(user))
	process := m.process
	cpu, server := try.Get(m.cpu()), m.serverCPU(ctx)
	m.mark(name, ".cpu.pprof")
	reconciles := m.reconciles(ctx)
	finish := func() {
		m.mark(name, ".heap.pprof")
		now := try.Get(m.audit.of(user))
		made := now.since(before)
		phase.Requests, phase.Total, phase.Writes = made, made.total(), made.writes()
		used := try.Get(m.cpu())
		if process != m.process {
			cpu, reconciles = 0, 0 // another process, which is counted from its start
		}
		phase.CPU, phase.ServerCPU = (used - cpu).Seconds(), m.serverCPU(ctx)-server
		phase.Reconciles = int(m.reconciles(ctx) - reconciles)
	}
	return phase, finish
}

// reconciles is the number of reconciles of the running process.
func (m *match) reconciles(ctx context.Context) float64 {
	if m.process == nil {
		return 0
	}
	return try.Get(m.process.gauges(ctx)).reconciles
}

func (m *match) cpu() (time.Duration, error) {
	if m.process == nil {
		return 0, nil
	}
	return m.process.cpu()
}

// serverCPU is the CPU time of the API server so far, in seconds.
func (m *match) serverCPU(ctx context.Context) float64 {
	running := try.Get(processes.Of(ctx, filepath.Dir(m.cluster.Kubeconfig)))["kube-apiserver"]
	if len(running) != 1 {
		try.Fail("there are %d API servers", len(running))
	}
	return try.Get(try.Get(procfs.NewProc(running[0])).Stat()).CPUTime()
}

// quiet returns when the contender has made no request and no reconcile for a second, or after 20 s for each 200 resources:
// some never rest.
func (m *match) quiet(ctx context.Context) {
	most := time.Duration(max(200, m.n)) * 100 * time.Millisecond
	deadline := time.Now().Add(most)
	last, since := [2]float64{-1}, time.Now()
	for time.Now().Before(deadline) {
		now, busy := m.activity(ctx)
		if now != last || busy {
			last, since = now, time.Now()
		}
		if time.Since(since) >= time.Second {
			return
		}
		pause(ctx, time.Second*time.Duration(max(1, m.n/1000))) // a look at the metrics costs a contender CPU, for each resource
	}
	m.say("it does not come to rest: going on after %s", most)
}

// activity is the number of requests and reconciles so far, and whether something is under way.
func (m *match) activity(ctx context.Context) (now [2]float64, busy bool) {
	made := try.Get(m.audit.of(m.contender.account.user()))
	now[0] = float64(made.since(nil).total())
	if m.process == nil {
		return now, false
	}
	gauges := try.Get(m.process.gauges(ctx))
	now[1] = gauges.reconciles
	return now, gauges.waiting > 0
}

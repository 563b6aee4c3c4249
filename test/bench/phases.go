package main

import (
	"context"
	"errors"
	"time"

	"github.com/example/appservice-operator/test/bench/load"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

const (
	idleFor    = 30 * time.Second
	aloneCount = 100
	aloneFor   = 60 * time.Second // and no longer
	fewCount   = 20
	fewFor     = 60 * time.Second // no change begins later
)

var errNotYet = errors.New("not yet as wanted")

// alone installs one AppService after the other, with nothing else to do, and measures from apply to Deployment.
func (m *match) alone(ctx context.Context) {
	names := load.Names("alone", aloneCount)
	var durations []time.Duration
	done := 0
	for start := time.Now(); done < len(names) && time.Since(start) < aloneFor; done++ {
		duration := m.one(ctx, names[done], 30*time.Second)
		durations = append(durations, duration)
	}
	m.result.Alone = latency(durations, 0)
	m.say("%-12s %4d, from apply to Deployment %.0f ms (p50), %.0f ms (p99)", "alone", len(durations), m.result.Alone.P50, m.result.Alone.P99)
	m.clear(ctx, names[:done])
}

// ready returns when the contender has started: it has installed an AppService, and another one without further startup work.
func (m *match) ready(ctx context.Context) {
	names := load.Names("ready", 2)
	for _, name := range names {
		_ = m.one(ctx, name, time.Minute)
	}
	m.clear(ctx, names)
}

// clear deletes AppServices and returns when nothing is left of them.
func (m *match) clear(ctx context.Context, names []string) {
	try.Do(load.Each(ctx, names, m.writer.Delete))
	try.Do(poll.PacedWithin(ctx, 2*time.Minute, poll.Every(50*time.Millisecond), func(context.Context) error { return all(m.scene.gone(names), len(names)) }))
	m.quiet(ctx)
}

// one installs an AppService and returns how long its Deployment took. All its objects are there then.
func (m *match) one(ctx context.Context, name string, patience time.Duration) time.Duration {
	start := time.Now()
	try.Do(m.writer.Create(ctx, name))
	try.Do(poll.PacedWithin(ctx, patience, poll.Every(2*time.Millisecond), func(context.Context) error {
		return all(m.scene.count([]string{name}, load.OldImage, true), 1)
	}))
	// Until the status is written, too.
	pause(ctx, 100*time.Millisecond)
	return m.scene.deployment(name).since.Sub(start)
}

// idle leaves the contender alone with all AppServices.
func (m *match) idle(ctx context.Context) {
	phase, finish := m.begin(ctx, "idle")
	m.say("%-12s for %s", "idle", idleFor)
	pause(ctx, idleFor)
	finish()
	phase.Seconds = idleFor.Seconds()
	m.idleRate = float64(phase.Total) / idleFor.Seconds()
	memory := try.Get(m.process.memory())
	m.result.SettledMiB, m.result.SettledAnonMiB = memory.now, memory.anonymous
	m.say("%-12s %d requests, CPU %.2f s, %.0f MiB resident, %.0f of them anonymous", "idle", phase.Total, phase.CPU, memory.now, memory.anonymous)
}

// drift changes Deployments behind the contender's back, one after the other.
func (m *match) drift(ctx context.Context) {
	const wrong = "registry.example.com/team/web:drifted"
	m.result.Drift = m.oneByOne(ctx, "drift", func(ctx context.Context, name string) (string, error) {
		return m.present(), setImage(ctx, m.api.client, m.namespace, name, wrong)
	})
}

// change changes the image of AppServices, one after the other, while the contender has nothing else to do.
func (m *match) change(ctx context.Context) {
	const other = "registry.example.com/team/web:changed"
	m.result.Change = m.oneByOne(ctx, "change", func(ctx context.Context, name string) (string, error) {
		return other, m.writer.SetImage(ctx, name, other)
	})
	try.Do(load.Each(ctx, m.few(), func(ctx context.Context, name string) error { return m.writer.SetImage(ctx, name, m.present()) }))
	m.quiet(ctx)
}

// few are the AppServices that change one by one.
func (m *match) few() []string { return m.names[:min(fewCount, len(m.names))] }

// oneByOne changes something of one AppService after the other, and measures until its Deployment has the image that
// the change returns.
func (m *match) oneByOne(ctx context.Context, phaseName string, change func(context.Context, string) (string, error)) *Latency {
	phase, finish := m.begin(ctx, phaseName)
	var durations []time.Duration
	begin := time.Now()
	names := m.few()
	for _, name := range names {
		start := time.Now()
		if start.Sub(begin) > fewFor {
			break // those that are left are missed
		}
		image := try.Get(change(ctx, name))
		err := poll.PacedWithin(ctx, 10*time.Second, poll.Every(2*time.Millisecond), func(context.Context) error {
			sight := m.scene.deployment(name)
			if sight.image != image || sight.since.Before(start) {
				return errNotYet
			}
			return nil
		})
		if ctx.Err() != nil {
			try.Do(context.Cause(ctx))
			return nil
		}
		if err == nil {
			durations = append(durations, m.scene.deployment(name).since.Sub(start))
		}
	}
	m.quiet(ctx)
	phase.Seconds, phase.Wanted, phase.Converged = time.Since(begin).Seconds(), len(names), len(durations)
	out := latency(durations, len(names)-len(durations))
	m.say("%-12s %d of %d Deployments as wanted, after %.0f ms (p50), %.0f ms (p99)", phaseName, len(durations), len(names), out.P50, out.P99)
	finish()
	return out
}

func all(count, wanted int) error {
	if count == wanted {
		return nil
	}
	return errNotYet
}

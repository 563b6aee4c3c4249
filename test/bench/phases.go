package main

import (
	"context"
	"errors"
	"time"

	"github.com/example/appservice-operator/test/bench/load"
	"github.com/example/appservice-operator/tools/poll"
)

const (
	idleFor    = 30 * time.Second
	aloneCount = 100
	aloneFor   = 60 * time.Second // and no longer
	driftCount = 20
	driftFor   = 60 * time.Second // no drift begins later
)

var errNotYet = errors.New("not yet as wanted")

// alone installs one AppService after the other, with nothing else to do, and measures from apply to Deployment.
func (m *match) alone(ctx context.Context) error {
	names := load.Names("alone", aloneCount)
	var durations []time.Duration
	done := 0
	for start := time.Now(); done < len(names) && time.Since(start) < aloneFor; done++ {
		duration, err := m.one(ctx, names[done], 30*time.Second)
		if err != nil {
			return err
		}
		durations = append(durations, duration)
	}
	m.result.Alone = latency(durations, 0)
	m.say("%-12s %4d, from apply to Deployment %.0f ms (p50), %.0f ms (p99)", "alone", len(durations), m.result.Alone.P50, m.result.Alone.P99)
	return m.clear(ctx, names[:done])
}

// ready returns when the contender has started: it has installed an AppService, and another one without further startup work.
func (m *match) ready(ctx context.Context) error {
	names := load.Names("ready", 2)
	for _, name := range names {
		if _, err := m.one(ctx, name, time.Minute); err != nil {
			return err
		}
	}
	return m.clear(ctx, names)
}

// clear deletes AppServices and returns when nothing is left of them.
func (m *match) clear(ctx context.Context, names []string) error {
	if err := load.Each(ctx, names, m.writer.Delete); err != nil {
		return err
	}
	if err := poll.PacedWithin(ctx, 2*time.Minute, poll.Every(50*time.Millisecond), func(context.Context) error { return all(m.scene.gone(names), len(names)) }); err != nil {
		return err
	}
	return m.quiet(ctx)
}

// one installs an AppService and returns how long its Deployment took. All its objects are there then.
func (m *match) one(ctx context.Context, name string, patience time.Duration) (time.Duration, error) {
	start := time.Now()
	if err := m.writer.Create(ctx, name); err != nil {
		return 0, err
	}
	err := poll.PacedWithin(ctx, patience, poll.Every(2*time.Millisecond), func(context.Context) error {
		return all(m.scene.count([]string{name}, load.OldImage, true), 1)
	})
	if err != nil {
		return 0, err
	}
	// Until the status is written, too.
	return m.scene.deployment(name).since.Sub(start), pause(ctx, 100*time.Millisecond)
}

// idle leaves the contender alone with all AppServices.
func (m *match) idle(ctx context.Context) error {
	phase, finish, err := m.begin(ctx, "idle")
	if err != nil {
		return err
	}
	m.say("%-12s for %s", "idle", idleFor)
	if err := pause(ctx, idleFor); err != nil {
		return err
	}
	if err := finish(); err != nil {
		return err
	}
	phase.Seconds = idleFor.Seconds()
	m.idleRate = float64(phase.Total) / idleFor.Seconds()
	if m.result.SettledMiB, _, err = m.process.memory(); err != nil {
		return err
	}
	m.say("%-12s %d requests, CPU %.2f s, %.0f MiB resident", "idle", phase.Total, phase.CPU, m.result.SettledMiB)
	return nil
}

// drift changes Deployments behind the contender's back, one after the other.
func (m *match) drift(ctx context.Context) error {
	const wrong = "registry.example.com/team/web:drifted"
	phase, finish, err := m.begin(ctx, "drift")
	if err != nil {
		return err
	}
	var durations []time.Duration
	begin := time.Now()
	names := m.names[:min(driftCount, len(m.names))]
	for _, name := range names {
		start := time.Now()
		if start.Sub(begin) > driftFor {
			break // those that are left are missed
		}
		if err := setImage(ctx, m.api.client, m.namespace, name, wrong); err != nil {
			return err
		}
		err := poll.PacedWithin(ctx, 10*time.Second, poll.Every(2*time.Millisecond), func(context.Context) error {
			sight := m.scene.deployment(name)
			if sight.image != m.present() || sight.since.Before(start) {
				return errNotYet
			}
			return nil
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			durations = append(durations, m.scene.deployment(name).since.Sub(start))
		}
	}
	if err := m.quiet(ctx); err != nil {
		return err
	}
	phase.Seconds, phase.Wanted, phase.Converged = time.Since(begin).Seconds(), len(names), len(durations)
	m.result.Drift = latency(durations, len(names)-len(durations))
	m.say("%-12s %d of %d put back, after %.0f ms (p50), %.0f ms (p99)", "drift", len(durations), len(names), m.result.Drift.P50, m.result.Drift.P99)
	return finish()
}

func all(count, wanted int) error {
	if count == wanted {
		return nil
	}
	return errNotYet
}

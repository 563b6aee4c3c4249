package main

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/bench/load"
	"github.com/example/appservice-operator/test/try"
)

// match is one contender's turn.
type match struct {
	*bench
	contender *contender
	namespace string
	names     []string
	process   *process // nil for bare writes
	scene     *scene
	writer    writer
	result    *Result

	kubeconfig string
	idleRate   float64 // requests per second when idle
}

// contend measures one contender in a fresh namespace, and leaves nothing behind.
func (b *bench) contend(ctx context.Context, c *contender) *Result {
	m := &match{
		bench: b, contender: c, namespace: "bench-" + c.letter, names: load.Names("app", b.n),
		result: &Result{Letter: c.letter, Title: c.title}, kubeconfig: b.program(c.letter + ".kubeconfig"),
	}
	config := b.api.identity(ctx, c.account, m.kubeconfig)
	b.api.namespace(ctx, m.namespace)
	if c.command == nil {
		own := try.Get(client.New(config, client.Options{Scheme: b.api.client.Scheme()}))
		m.writer = &bareWriter{resourceWriter{client: own, version: c.version, namespace: m.namespace, pods: b.pods}}
	} else {
		m.writer = m.resources()
		m.process = b.start(c, m.kubeconfig)
		defer func() { m.process.stop() }() // the one that is running by then
	}
	if c.install != nil {
		c.install(ctx)
	}
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	m.scene = b.watchScene(watching, m.namespace, c.version)
	m.play(ctx)
	if m.process != nil {
		m.process.stop()
	}
	unwatch()
	b.api.removeNamespace(ctx, m.namespace)
	return m.result
}

// resources writes AppServices as the administrator: the requests are not the contender's.
func (m *match) resources() *resourceWriter {
	return &resourceWriter{client: m.api.client, version: m.contender.version, namespace: m.namespace, pods: m.pods}
}

// play goes through the phases.
func (m *match) play(ctx context.Context) {
	steps := []struct {
		name string
		bare bool // bare writes included
		do   func(context.Context)
	}{
		{"ready", false, m.ready},
		{"alone", false, m.alone},
		{"install", true, m.install},
		{"idle", false, m.idle},
		{"noop", false, m.noop},
		{"image", true, m.image},
		{"settle", false, m.settle},
		{"toggle", true, m.toggle},
		{"drift", false, m.drift},
		{"change", false, m.change},
		{"restart", false, m.restart},
		{"chart", false, m.chart},
		{"delete", true, m.remove},
	}
	for _, step := range steps {
		if m.skip[step.name] || m.process == nil && !step.bare {
			continue
		}
		step.do(ctx)
		m.notePeak()
	}
}

func (m *match) notePeak() {
	if m.process == nil {
		return
	}
	m.result.PeakMiB = max(m.result.PeakMiB, try.Get(m.process.memory()).peak)
}

func (m *match) install(ctx context.Context) {
	m.throughput(ctx, "install", m.writer.Create, func() int { return m.scene.count(m.names, load.OldImage, true) })
}

func (m *match) image(ctx context.Context) {
	change := func(ctx context.Context, name string) error { return m.writer.SetImage(ctx, name, load.NewImage) }
	m.throughput(ctx, "image", change, func() int { return m.scene.count(m.names, load.NewImage, true) })
}

// present is the present image of the AppServices.
func (m *match) present() string {
	if m.skip["image"] {
		return load.OldImage
	}
	return load.NewImage
}

// toggle removes the Ingress, and adds it again.
func (m *match) toggle(ctx context.Context) {
	for _, there := range []bool{false, true} {
		name := map[bool]string{false: "feature off", true: "feature on"}[there]
		change := func(ctx context.Context, name string) error { return m.writer.SetIngress(ctx, name, there) }
		m.throughput(ctx, name, change, func() int { return m.scene.count(m.names, m.present(), there) })
	}
}

func (m *match) remove(ctx context.Context) {
	m.throughput(ctx, "delete", m.writer.Delete, func() int { return m.scene.gone(m.names) })
}

// throughput does something to all AppServices and waits until all are as desired, then until the contender is quiet.
func (m *match) throughput(ctx context.Context, name string, do func(context.Context, string) error, count func() int) {
	phase, finish := m.begin(ctx, name)
	phase.Wanted = len(m.names)
	start := time.Now()
	written := make(chan error, 1)
	go func() { written <- load.Each(ctx, m.names, do) }()
	m.follow(ctx, phase, start, count)
	try.Do(<-written)
	m.quiet(ctx)
	finish()
	m.say("%-12s %4d of %d in %6.2f s, %6.1f per second, %5.1f requests and %.1f reconciles each, CPU %.2f s", name, phase.Converged, phase.Wanted,
		phase.Seconds, phase.PerSecond, float64(phase.Total)/float64(phase.Wanted), float64(phase.Reconciles)/float64(phase.Wanted), phase.CPU)
}

// follow records the count until it is complete, or for as long as a phase may take.
func (m *match) follow(ctx context.Context, phase *Phase, start time.Time, count func() int) {
	told := start
	for {
		now := time.Now()
		elapsed := now.Sub(start)
		converged := count()
		if len(phase.Curve) == 0 || converged != phase.Curve[len(phase.Curve)-1].Count {
			phase.Curve = append(phase.Curve, Point{Seconds: elapsed.Seconds(), Count: converged})
		}
		phase.Converged, phase.Seconds = converged, elapsed.Seconds()
		if converged == phase.Wanted || elapsed > m.patience() {
			phase.PerSecond = float64(converged) / elapsed.Seconds()
			phase.Curve = thinned(phase.Curve, 60)
			return
		}
		if now.Sub(told) > 5*time.Second {
			told = now
			m.say("%-12s %4d of %d so far ...", phase.Name, converged, phase.Wanted)
		}
		pause(ctx, max(10*time.Millisecond, time.Duration(m.n)*20*time.Microsecond)) // a look takes longer the more there are
	}
}

// thinned keeps at most so many points of a curve, the last among them.
func thinned(curve []Point, most int) []Point {
	if len(curve) <= most {
		return curve
	}
	var out []Point
	for i := range most {
		out = append(out, curve[i*(len(curve)-1)/(most-1)])
	}
	return out
}

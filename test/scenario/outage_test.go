//go:build cluster

package scenario

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/poll"
)

// outage is a time in which a program of the control plane is down. It is killed while requests of many plans are on their way.
type outage struct {
	name, program string
	lasts         time.Duration
}

var outages = []outage{
	{"server", "kube-apiserver", 5 * time.Second},
	{"server-for-long", "kube-apiserver", 30 * time.Second}, // longer than the operator's first retries, and those of its watches
	{"etcd", "etcd", 5 * time.Second},
}

// plans lists those of an outage, which strike every other request of all scenarios: some before they are committed, some after.
func (o outage) plans(p *player) []plan {
	var list []plan
	for _, w := range scenarios {
		if p.references[w.name] == nil {
			continue
		}
		for i, point := range p.references[w.name].points {
			next := plan{campaign: o.name, scenario: w, number: i + 1, point: point, fault: harness.CutBefore}
			if i%4 == 2 {
				next.fault = harness.CutAfter
			}
			if i%2 == 0 && !point.DryRun && chosen(next.name(), *every) {
				list = append(list, next)
			}
		}
	}
	return list
}

// playOutage plays the plans of an outage, as many at a time as may run in parallel, with one operator that runs through it.
func (p *player) playOutage(t *testing.T, o outage) {
	plans := o.plans(p)
	if current, _ := controlplane.CurrentWanted(); current || *every > 1 || len(plans) == 0 {
		return // not our control plane, or a sample: nothing else can run during an outage
	}
	atATime := flag.Lookup("test.parallel").Value.(flag.Getter).Get().(int)
	running := shared(t, through, func(options *operator.Options) { // each plan holds a request, and with it the operator's worker
		options.MaxConcurrentReconciles, options.MaxConcurrentRollouts = 2*atATime, 2*atATime
	})
	for some := range slices.Chunk(plans, atATime) {
		c := &cut{gone: make(chan struct{}), back: make(chan struct{})}
		c.here.Add(len(some))
		go c.play(t.Context(), o)
		t.Run(o.name, func(t *testing.T) {
			for _, plan := range some {
				t.Run(plan.name(), func(t *testing.T) { t.Parallel(); p.playThrough(t, plan, c) })
			}
		})
		if <-c.back; c.err != nil {
			t.Fatal(c.err)
		}
	}
	running.Stop(t)
}

// cut is an outage while it lasts.
type cut struct {
	here sync.WaitGroup // those plans whose request is on its way
	gone chan struct{}  // closed when the program has ended
	back chan struct{}  // closed when it answers again
	err  error          // of the outage itself, then
}

// play waits for all plans, kills the program, and starts it again later. The wait is the outage.
func (c *cut) play(ctx context.Context, o outage) {
	defer close(c.back)
	gone := sync.OnceFunc(func() { close(c.gone) })
	defer gone() // also if it could not be killed
	c.here.Wait()
	c.err = cluster.Without(ctx, o.program, func() {
		gone()
		o.last(ctx)
	})
}

// last returns when it is time to start the program again.
func (o outage) last(ctx context.Context) {
	select {
	case <-time.After(o.lasts):
	case <-ctx.Done():
	}
}

// playThrough plays a plan up to its request, waits for the outage to pass, and compares the end with the reference.
func (p *player) playThrough(t *testing.T, plan plan, c *cut) {
	arrive := sync.OnceFunc(c.here.Done)
	defer arrive()
	r := p.references[plan.scenario.name].whateverOthersWrote()
	act := &attempt{t: t, plan: plan, reference: r, stage: newStage(t, plan.name(), through)}
	first, last := len(plan.scenario.given), len(r.states)-1
	for i, step := range plan.scenario.all() {
		if i == first {
			act.stage.line.Start()
			act.struck = act.stage.line.Arm(harness.Fault{At: plan.point, Kind: plan.fault, Gone: c.gone})
		}
		act.stage.do(t, step)
		if i >= first && !act.hit && (act.strikes(i) || i == last) {
			arrive()
			<-c.back
			act.since = time.Now()
		}
		if !act.becomes(i) {
			return
		}
	}
	act.stage.line.Disarm()
	tally.played(plan.name(), act.hit, act.recovery)
	if changes := plan.withUnanswered(act.stage.line.Changes(), r.changes); !maps.Equal(changes, r.changes) {
		tally.fail(t, plan.name(), false, "O2: it created and deleted %v, want %v (the outage was at %s)", changes, r.changes, plan.point)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.played = append(p.played, &played{plan.name(), act.stage, r.states[last], r.masks[last]})
}

// withUnanswered adds to what was created and deleted what may have been committed without an answer: an API server without etcd keeps a request,
// which may be committed once etcd is back and no client waits for the answer any more. That can have happened only once.
func (p plan) withUnanswered(changes, want map[string]int) map[string]int {
	for _, verb := range []string{"create ", "delete "} {
		if key := verb + p.point.Target; p.campaign == "etcd" && p.fault == harness.CutBefore && changes[key] == want[key]-1 {
			changes[key]++
		}
	}
	return changes
}

// generations count the writes of a Deployment: an autoscaler may have, while a request was on its way.
var generations = regexp.MustCompile(`^Deployment web\.(metadata\.generation|status\.observedGeneration)$`)

// whateverOthersWrote is the reference of a run that takes longer.
func (r *reference) whateverOthersWrote() *reference {
	out := *r
	out.masks = nil
	for i, mask := range r.masks {
		mask = maps.Clone(mask)
		for path := range r.states[i] {
			if generations.MatchString(path) {
				mask[path] = true
			}
		}
		out.masks = append(out.masks, mask)
	}
	return &out
}

// strikes reports whether the request of the plan comes up in a step, before that ends.
func (a *attempt) strikes(step int) bool {
	view := &view{wanted: a.reference.states[step], mask: a.reference.masks[step], looked: -1}
	_ = poll.UntilWithin(a.t.Context(), patience, func(ctx context.Context) error { // becomes reports what is wrong
		if a.look(); a.hit {
			return nil
		}
		if err := view.off(ctx, a.stage); err != nil {
			return err
		}
		if !a.stage.quiet() {
			return fmt.Errorf("something still happens")
		}
		return nil
	})
	return a.hit
}

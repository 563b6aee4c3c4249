package fault

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

// reference is what a workload leads to without faults: the state after each step, and what was written.
type reference struct {
	states  []state
	masks   []map[string]bool
	points  []harness.Point
	changes map[string]int
}

// player plays the plans of T1 and T2.
type player struct {
	mu          sync.Mutex
	references  map[string]*reference
	freshStates map[string]*freshState
	played      []*played
	alive       chan struct{} // as many operators of their own run at a time
}

// played is a plan that has ended well so far.
type played struct {
	plan  string
	stage *stage
	end   state
	mask  map[string]bool
}

const (
	together = "together"
	alone    = "alone"
	// ownOperators is how many run at a time. Most of the time they wait for others.
	ownOperators = 12
)

func TestFaults(t *testing.T) {
	cluster.CollectsGarbage(t)
	p := &player{references: map[string]*reference{}, alive: make(chan struct{}, ownOperators)}
	fleet := shared(t, together)
	t.Run("reference", func(t *testing.T) {
		for _, w := range workloads {
			if needed(w) {
				t.Run(w.name, func(t *testing.T) { t.Parallel(); p.learn(t, w) })
			}
		}
	})
	if t.Failed() {
		t.Fatal("there is nothing to compare with")
	}
	t.Run("plan", func(t *testing.T) {
		n := 0
		for _, w := range workloads {
			if p.references[w.name] == nil {
				continue
			}
			for _, plan := range plansOf(w, p.references[w.name].points) {
				if n++; chosen(plan.name(), n) {
					t.Run(plan.name(), func(t *testing.T) { t.Parallel(); p.play(t, plan) })
				}
			}
		}
	})
	fleet.Stop(t)
	p.verify(t)
}

// learn plays a workload twice without faults.
func (p *player) learn(t *testing.T, w workload) {
	stages := []*stage{newStage(t, w.name, together), newStage(t, w.name, together)}
	var states [2][]state
	for i, step := range w.steps() {
		if i == len(w.before) {
			stages[0].line.Start()
			stages[1].line.Start()
		}
		for _, stage := range stages {
			stage.do(t, step)
		}
		for run, stage := range stages {
			states[run] = append(states[run], stage.settled(t, step))
		}
	}
	if first, second := stages[0].line.Changes(), stages[1].line.Changes(); !maps.Equal(first, second) {
		t.Errorf("two runs without faults create and delete differently: %v and %v", first, second)
	}
	r := &reference{
		states: states[0], changes: stages[0].line.Changes(),
		points: pointsOf(stages[0].line.Points(), stages[1].line.Points()),
	}
	for i := range states[0] {
		r.masks = append(r.masks, masked(states[0][i], states[1][i]))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.references[w.name] = r
	var lines strings.Builder
	for i, point := range r.points {
		fmt.Fprintf(&lines, "\n  %d %s", i+1, point)
	}
	t.Logf("%s: %d points, %d fields masked at the end%s", w.name, len(r.points), len(r.masks[len(r.masks)-1]), lines.String())
}

// play plays a plan and compares its end with the reference.
func (p *player) play(t *testing.T, plan plan) {
	r := p.references[plan.workload.name]
	act := &run1{t: t, plan: plan, reference: r}
	server := together
	if plan.dies() {
		server = alone
		p.alive <- struct{}{}
		defer func() { <-p.alive }()
	}
	act.stage = newStage(t, plan.name(), server)
	if plan.dies() {
		act.process = launch(t, cluster, act.stage.namespace, &harness.View{})
	}
	for i, step := range plan.workload.steps() {
		if i == len(plan.workload.before) {
			act.arm()
		}
		act.stage.do(t, step)
		if !act.becomes(i) {
			return
		}
	}
	if act.process != nil {
		act.process.Stop(t)
	}
	act.stage.line.Disarm()
	tally.played(plan.name(), act.hit, act.recovery)
	if changes := act.stage.line.Changes(); !maps.Equal(changes, r.changes) {
		tally.fail(t, plan.name(), false, "O2: it created and deleted %v, want %v (the fault was at %s)", changes, r.changes, plan.point)
	}
	last := len(r.states) - 1
	p.mu.Lock()
	defer p.mu.Unlock()
	p.played = append(p.played, &played{plan.name(), act.stage, r.states[last], r.masks[last]})
}

// run1 is one plan while it is played.
type run1 struct {
	t         *testing.T
	plan      plan
	reference *reference
	stage     *stage
	process   *process
	struck    <-chan struct{}
	hit       bool
	since     time.Time // of the fault, or of the restart after it
	recovery  time.Duration
}

func (a *run1) arm() {
	a.stage.line.Start()
	a.struck = a.stage.line.Arm(harness.Fault{At: a.plan.point, Kind: a.plan.fault})
}

// look notes whether the fault has struck, and starts an operator that died again.
func (a *run1) look() {
	if a.process != nil && a.process.revive() {
		a.since = time.Now()
		if a.plan.again && a.process.deaths == 1 {
			a.stage.line.Arm(harness.Fault{Number: len(a.stage.line.Points()) + 1, Kind: harness.DiesBefore})
		}
	}
	if a.struck == nil || a.hit {
		return
	}
	select {
	case <-a.struck:
		a.hit = true
		if a.since.IsZero() {
			a.since = time.Now()
		}
	default:
	}
}

// becomes waits until the namespace is as the reference is after a step: oracles O1, O3 and O4.
func (a *run1) becomes(step int) bool {
	wanted, mask := a.reference.states[step], a.reference.masks[step]
	last := step == len(a.reference.states)-1
	var differs []string
	looked := -1
	err := poll.UntilWithin(a.t.Context(), patience, func(context.Context) error {
		a.look()
		version, quiet := seen.version(a.stage.namespace)
		if version != looked || differs == nil {
			looked = version
			got, err := a.stage.state(a.t)
			if err != nil {
				return err
			}
			differs = differences(wanted, got, mask)
		}
		switch {
		case len(differs) > 0:
			return fmt.Errorf("%d fields differ", len(differs))
		case last && a.struck != nil && !a.hit && (quiet < calm || a.stage.line.Quiet() < calm):
			return fmt.Errorf("the fault has not struck yet")
		}
		return nil
	})
	if text := logs.panicIn(a.stage.namespace); text != "" {
		tally.fail(a.t, a.plan.name(), false, "O3: %s", text)
	}
	if err != nil {
		tally.played(a.plan.name(), a.hit, 0)
		tally.fail(a.t, a.plan.name(), true, "O1: %v after step %d; the fault at %s struck: %t\n    %s", err, step+1, a.plan.point, a.hit,
			listed(differs))
		return false
	}
	if a.hit {
		a.recovery = time.Since(a.since)
	}
	objects, err := seen.objects(a.t.Context(), a.stage.namespace)
	if err != nil {
		a.t.Fatal(err)
	}
	if app, err := appOf(objects); err != nil {
		a.t.Fatal(err)
	} else if app != nil {
		if err := untrue(app, objects); err != nil {
			tally.fail(a.t, a.plan.name(), false, "O4: %v", err)
		}
	}
	return true
}

func (s *stage) state(t *testing.T) (state, error) {
	objects, err := seen.objects(t.Context(), s.namespace)
	if err != nil {
		return nil, err
	}
	return stateOf(s.namespace, objects)
}

//go:build cluster

package scenario

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/harness"
)

// reference is the outcome of a scenario without faults: the state after each step, and the writes.
type reference struct {
	states  []state
	masks   []map[string]bool
	points  []harness.Point
	changes map[string]int
}

// player plays plans and incidents.
type player struct {
	mu          sync.Mutex
	references  map[string]*reference
	freshStates map[string]*freshState
	played      []*played
	alive       chan struct{} // the number of operators of their own that run at a time
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
	through  = "through" // outages of the control plane
	// ownOperators is how many run at a time. Most of the time they wait.
	ownOperators = 24
)

// TestFaults plays the plans in which one request fails, and in parallel the incidents.
func TestFaults(t *testing.T) {
	cluster.CollectsGarbage(t)
	defer seen.judge(t)
	p := newPlayer()
	fleet, all := shared(t, together), everyScenario()
	p.mustLearn(t, slices.DeleteFunc(slices.Clone(all), func(s scenario) bool { return !needed(s) }))
	t.Run("plan", func(t *testing.T) {
		for _, incident := range lasting() {
			if *every == 1 && chosen(incident.name, *every) {
				t.Run(incident.name, func(t *testing.T) { t.Parallel(); p.playIncident(t, incident) })
			}
		}
		n := 0
		p.playPlans(t, all, func(plan plan) bool { n++; return chosen(plan.name(), n) })
		for n, incident := range slices.Concat(incidents(), p.jobIncidents()) {
			if chosen(incident.name, n) {
				t.Run(incident.name, func(t *testing.T) { t.Parallel(); p.playIncident(t, incident) })
			}
		}
	})
	fleet.Stop(t)
	for _, o := range outages {
		p.playOutage(t, o)
	}
	p.verify(t)
	if tally.jobs.plans == 0 && *only == "" {
		t.Error("no plan of an AppJob was played")
	}
}

// TestDeaths has the operator die before and after each write of a few scenarios, those in which a half of it would do
// most harm: the end is always the same.
func TestDeaths(t *testing.T) {
	cluster.CollectsGarbage(t)
	defer seen.judge(t)
	p := newPlayer()
	fleet := shared(t, together)
	list := slices.DeleteFunc(everyScenario(), func(s scenario) bool { return !s.deadly })
	p.mustLearn(t, list)
	t.Run("plan", func(t *testing.T) {
		p.playPlans(t, list, func(plan plan) bool { return plan.dies() && !plan.again })
	})
	fleet.Stop(t)
	p.verify(t)
}

// mustLearn plays scenarios without faults, or ends the test.
func (p *player) mustLearn(t *testing.T, list []scenario) {
	t.Helper()
	if p.learn(t, list); t.Failed() {
		t.Fatal("there is nothing to compare with")
	}
}

// playPlans plays those plans of scenarios that are chosen, in parallel.
func (p *player) playPlans(t *testing.T, list []scenario, chosen func(plan) bool) {
	t.Helper()
	for _, w := range list {
		if p.references[w.name] == nil {
			continue
		}
		for _, plan := range plansOf(w, p.references[w.name].points) {
			if chosen(plan) {
				t.Run(plan.name(), func(t *testing.T) { t.Parallel(); p.playPlan(t, plan) })
			}
		}
	}
}

// playPlan plays a plan and compares its end with the reference.
func (p *player) playPlan(t *testing.T, plan plan) {
	r := p.references[plan.scenario.name]
	act := &attempt{t: t, plan: plan, reference: r}
	own := plan.dies() || plan.scenario.alone()
	if own {
		p.alive <- struct{}{}
		defer func() { <-p.alive }()
	}
	act.stage = plan.scenario.stage(t, plan.name(), own)
	defer func() {
		for _, wrong := range act.stage.wrong(t) {
			tally.fail(t, plan.name(), false, "%s (the fault was at %s)", wrong, plan.point)
		}
	}()
	for i, step := range plan.scenario.all() {
		if i == len(plan.scenario.given) {
			act.arm()
			if plan.scenario.serves {
				seen.serves(act.stage.namespace)
			}
		}
		act.stage.do(t, step)
		if !act.becomes(i) {
			return
		}
	}
	if own {
		act.stage.process.Stop(t)
	}
	act.stage.line.Disarm()
	tally.played(plan.name(), act.hit, act.recovery)
	if changes := act.stage.line.Changes(); !maps.Equal(changes, r.changes) {
		tally.fail(t, plan.name(), false, "O2: it created and deleted %v, want %v (the fault was at %s)", changes, r.changes, plan.point)
	}
	if wrong := seen.shelfOf(act.stage.namespace).wrong; len(wrong) > 0 && plan.scenario.keepsRecords() {
		tally.fail(t, plan.name(), false, "O7: of release records: %s (the fault was at %s)", strings.Join(wrong, "; "), plan.point)
	}
	act.stage.line.Start() // reports of earlier steps no longer matter
	last := len(r.states) - 1
	p.mu.Lock()
	defer p.mu.Unlock()
	p.played = append(p.played, &played{plan.name(), act.stage, r.states[last], r.masks[last]})
}

// wrong lists what was wrong with the pods and the generated values of a namespace over time: oracles O8 and O9.
func (s *stage) wrong(t *testing.T) (list []string) {
	t.Helper()
	objects, err := seen.objects(t.Context(), s.namespace)
	require.NoError(t, err)
	if wrong := seen.failedToServe(s.namespace); len(wrong) > 0 {
		list = append(list, "O8: no pod was available "+strings.Join(wrong, "; "))
	}
	if wrong := seen.wronglyMade(s.namespace, objects); len(wrong) > 0 {
		list = append(list, "O9: of generated values: "+strings.Join(wrong, "; "))
	}
	if told := s.told(t, objects); len(told) > 0 {
		list = append(list, "O9: values outside of their Secrets: "+strings.Join(told, "; "))
	}
	return list
}

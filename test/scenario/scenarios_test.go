//go:build cluster

package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func newPlayer() *player {
	return &player{references: map[string]*reference{}, alive: make(chan struct{}, ownOperators)}
}

func everyScenario() []scenario {
	return slices.Concat(scenarios, claimScenarios, adoptionScenarios, returnScenarios, generatedScenarios, jobScenarios, taskScenarios)
}

// TestScenarios plays each scenario without faults, and looks at what is expected of it.
func TestScenarios(t *testing.T) {
	defer seen.judge(t)
	p := newPlayer()
	shared(t, together)
	p.learn(t, everyScenario())
}

// learn plays scenarios without faults.
func (p *player) learn(t *testing.T, list []scenario) {
	t.Helper()
	t.Run("reference", func(t *testing.T) {
		for _, one := range list {
			t.Run(one.name, func(t *testing.T) { t.Parallel(); p.play(t, one) })
		}
	})
}

// play plays a scenario without faults: twice, if there are plans of it.
func (p *player) play(t *testing.T, w scenario) {
	if w.alone() {
		p.alive <- struct{}{}
		defer func() { <-p.alive }()
	}
	stages := []*stage{w.stage(t, w.name, w.alone())}
	if !w.once {
		stages = append(stages, w.stage(t, w.name, w.alone()))
	}
	defer func() {
		for _, stage := range stages {
			for _, wrong := range stage.wrong(t) {
				t.Errorf("without faults: %s", wrong)
			}
		}
	}()
	var states [2][]state
	for i, step := range w.all() {
		if i == len(w.given) {
			for _, stage := range stages {
				stage.line.Start()
				if w.serves {
					seen.serves(stage.namespace)
				}
			}
		}
		made := stages[0].line.Points()
		for _, stage := range stages {
			stage.do(t, step)
		}
		for run, stage := range stages {
			states[run] = append(states[run], stage.settled(t, step))
		}
		stages[0].meets(t, step, states[0], made)
	}
	if w.once {
		return
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
	if r.changes["delete horizontalpodautoscalers/"+appName] > 0 { // one that a fault leaves alive for longer continues to scale
		r = r.whateverOthersWrote()
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

package fault

import (
	"slices"
	"strings"
	"testing"
)

// TestScenarios plays what is more than one request that fails.
func TestScenarios(t *testing.T) {
	list := slices.Concat(stale(), records(), rights(), drift(), upgrades(), leaders(), quotas(), admission())
	slices.SortFunc(list, func(a, b scenario) int { return strings.Compare(a.name, b.name) })
	cluster.CollectsGarbage(t)
	p := &player{alive: make(chan struct{}, ownOperators)}
	forFresh := shared(t, together)
	t.Run("plan", func(t *testing.T) {
		for n, scenario := range list {
			if chosen(scenario.name, n) {
				t.Run(scenario.name, func(t *testing.T) { t.Parallel(); p.playScenario(t, scenario) })
			}
		}
	})
	forFresh.Stop(t)
	p.verify(t)
}

//go:build cluster

package fault

import (
	"slices"
	"strings"
)

// scenarios lists, in order of their names, the plans in which more fails than one request.
func scenarios() []scenario {
	list := slices.Concat(stale(), records(), rights(), drift(), upgrades(), leaders(), quotas(), admission(), generatedScenarios())
	slices.SortFunc(list, func(a, b scenario) int { return strings.Compare(a.name, b.name) })
	return list
}

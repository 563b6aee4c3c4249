package fault

import (
	"slices"
	"strings"
)

// scenarios lists, in order of their names, what is more than one request that fails.
func scenarios() []scenario {
	list := slices.Concat(stale(), records(), rights(), drift(), upgrades(), leaders(), quotas(), admission())
	slices.SortFunc(list, func(a, b scenario) int { return strings.Compare(a.name, b.name) })
	return list
}

//go:build cluster

package scenario

import (
	"slices"
	"strings"
)

// incidents lists, in order of their names, the plans in which more fails than one request.
func incidents() []incident {
	list := slices.Concat(stale(), records(), rights(), drift(), upgrades(), leaders(), quotas(), admission(), generatedIncidents())
	slices.SortFunc(list, func(a, b incident) int { return strings.Compare(a.name, b.name) })
	return list
}

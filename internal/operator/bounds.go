package operator

import (
	"runtime/debug"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// boundOf returns the maximum size of the resources of a kind.
func boundOf(entry chart.Watch) limits.Bound {
	switch {
	case !entry.Is():
		return 0
	case debug.SetMemoryLimit(-1) >= limits.RaisedMemory:
		return limits.PublishedWithMemory
	}
	return limits.Published
}

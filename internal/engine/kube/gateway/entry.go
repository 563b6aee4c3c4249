package gateway

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions of a route that the Gateway API defines.
const (
	Accepted         = "Accepted"
	ResolvedRefs     = "ResolvedRefs"
	PartiallyInvalid = "PartiallyInvalid"
)

// Entry is the report of one controller on one parent of a route.
type Entry struct {
	Controller string
	Conditions []metav1.Condition

	generation int64 // of the route
}

// Behind reports whether the entry is about an earlier spec. Controllers that report no generation are believed.
func (e Entry) Behind() bool {
	return slices.ContainsFunc(e.Conditions, func(c metav1.Condition) bool {
		return c.ObservedGeneration != 0 && c.ObservedGeneration < e.generation
	})
}

// Behind reports whether some controller has not yet observed the newest version of the route.
func (r *Route) Behind() bool {
	for _, said := range r.Status.Parents {
		if (Entry{Conditions: said.Conditions, generation: r.Metadata.Generation}).Behind() {
			return true
		}
	}
	return false
}

// refused reports whether all controllers that have observed a parent refuse the route.
func (p Parent) refused() bool {
	for _, entry := range p.Entries {
		if entry.Behind() || !meta.IsStatusConditionFalse(entry.Conditions, Accepted) {
			return false
		}
	}
	return len(p.Entries) > 0
}

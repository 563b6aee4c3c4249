package gateway

import (
	"slices"

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
	Conditions []Condition

	generation int64 // of the route
}

// Condition is a condition of an entry, without its time.
type Condition struct {
	Type               string                 `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	Reason             string                 `json:"reason"`
	Message            string                 `json:"message"`
	ObservedGeneration int64                  `json:"observedGeneration"`
}

// Behind reports whether the entry is about an earlier spec. Controllers that report no generation are believed.
func (e Entry) Behind() bool {
	return slices.ContainsFunc(e.Conditions, func(c Condition) bool { return c.ObservedGeneration != 0 && c.ObservedGeneration < e.generation })
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

// Find returns the condition of a type; nil if the controller does not report it.
func (e Entry) Find(kind string) *Condition {
	for i := range e.Conditions {
		if e.Conditions[i].Type == kind {
			return &e.Conditions[i]
		}
	}
	return nil
}

// refused reports whether all controllers that have observed a parent refuse the route.
func (p Parent) refused() bool {
	for _, entry := range p.Entries {
		if accepted := entry.Find(Accepted); entry.Behind() || accepted == nil || accepted.Status != metav1.ConditionFalse {
			return false
		}
	}
	return len(p.Entries) > 0
}

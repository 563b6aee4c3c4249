package status

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// deletionPeriod is the time between two attempts to delete an expired resource.
const deletionPeriod = 2 * time.Minute

// expiry returns when the resource expires, nil for never; the warning that this is soon, or why it could not be
// deleted; and when that has to be checked again, zero for never.
func expiry(in Input) (ends *metav1.Time, warnings []v1.Problem, again time.Time) {
	life := LifetimeOf(in.Resource, in.Previous.ExpirationTime, in.Now.Time)
	if life.End().IsZero() {
		return nil, nil, time.Time{}
	}
	ends, again = &metav1.Time{Time: life.End()}, life.Next(in.Now.Time)
	if life.Over(in.Now.Time) {
		again = in.Now.Add(deletionPeriod)
	}
	at := life.End().UTC().Format(time.RFC3339)
	switch {
	case !life.Ending(in.Now.Time):
	case in.Undeleted != nil:
		message := OneLine(fmt.Sprintf("deletion at %s (spec.ttl) failed: %v", at, in.Undeleted))
		warnings = []v1.Problem{warning("spec.ttl", v1.ReasonExpirationFailed, message)}
	default:
		ttl, _, _ := unstructured.NestedString(in.Resource.Object, "spec", "ttl")
		message := fmt.Sprintf("%s %s will be deleted at %s (spec.ttl %s)", in.Resource.GetKind(), in.Resource.GetName(), at, ttl)
		warnings = []v1.Problem{warning("spec.ttl", v1.ReasonExpiring, message)}
	}
	return ends, warnings, again
}

// Expiry returns the problem by which a status warns of the resource's expiry; nil if it does not.
func Expiry(status *v1.AppServiceStatus) *v1.Problem {
	at := slices.IndexFunc(status.Problems, func(p v1.Problem) bool {
		return p.Reason == v1.ReasonExpiring || p.Reason == v1.ReasonExpirationFailed
	})
	if at < 0 {
		return nil
	}
	return &status.Problems[at]
}

// earlier returns the earlier of two times; zero counts as none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

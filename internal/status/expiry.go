package status

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// deletionPeriod is the time between two attempts to delete an expired resource.
const deletionPeriod = 2 * time.Minute

func lifeOf(in Input) Lifetime {
	return LifetimeOf(in.Resource, in.Previous.ExpirationTime, in.Now.Time)
}

// expirationTime returns when the resource expires; nil for never.
func expirationTime(in Input) *metav1.Time {
	ends := lifeOf(in).End()
	if ends.IsZero() {
		return nil
	}
	return &metav1.Time{Time: ends}
}

// expiring warns that the resource is about to expire, or says why it could not be deleted.
func expiring(in Input) []v1.Problem {
	lives := lifeOf(in)
	if !lives.Ending(in.Now.Time) {
		return nil
	}
	ends := lives.End().UTC().Format(time.RFC3339)
	if in.Undeleted != nil {
		message := fmt.Sprintf("it was to be deleted at %s, which failed: %v", ends, in.Undeleted)
		return []v1.Problem{warning("spec.ttl", v1.ReasonExpirationFailed, OneLine(message))}
	}
	message := fmt.Sprintf("it is deleted at %s, when it has lived for its spec.ttl", ends)
	return []v1.Problem{warning("spec.ttl", v1.ReasonExpiring, message)}
}

// nextOfLife returns when the expiry of the resource has to be checked again; zero for never.
func nextOfLife(in Input) time.Time {
	lives := lifeOf(in)
	if lives.Over(in.Now.Time) {
		return in.Now.Add(deletionPeriod)
	}
	return lives.Next(in.Now.Time)
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

package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Lifetime says how long a resource with spec.ttl lives: a function of the resource, the time that its status announces
// and the present time, so that nothing has to be remembered and a restart changes nothing. The zero value has no end.
type Lifetime struct {
	ttl  time.Duration
	ends time.Time
}

// MinTTL is the shortest time to live that the CRD accepts. A shorter or invalid one got past the CRD and deletes
// nothing.
const MinTTL = time.Minute

// The warning is due when a tenth of the time to live is left, and an hour before the end of a long one. So late at the
// latest the end is announced.
const (
	warnedShare   = 10
	longestNotice = time.Hour
)

// LifetimeOf returns the lifetime of a resource, counted from its creation. It ends later if its end was not announced
// by now, as after a ttl was added or made shorter: times of only one clock are compared with the announcement. The
// spec of kinds other than AppService belongs to the chart.
func LifetimeOf(resource *unstructured.Unstructured, announced *metav1.Time, now time.Time) Lifetime {
	if !kube.IsAppService(resource.GroupVersionKind()) {
		return Lifetime{}
	}
	text, _, _ := unstructured.NestedString(resource.Object, "spec", "ttl")
	ttl, err := time.ParseDuration(text)
	created := resource.GetCreationTimestamp()
	if err != nil || ttl < MinTTL || created.IsZero() {
		return Lifetime{}
	}
	l := Lifetime{ttl: ttl, ends: created.Add(ttl).Truncate(time.Second)}
	switch soonest := now.Add(l.notice()); {
	case !l.ends.Before(soonest):
	case announced != nil && !announced.Time.Before(l.ends) && !announced.After(soonest):
		l.ends = announced.Time
	default:
		l.ends = soonest.Add(time.Second - 1).Truncate(time.Second) // as statuses are stored
	}
	return l
}

// End returns when the resource will be deleted; the zero time for never.
func (l Lifetime) End() time.Time { return l.ends }

// Over reports whether the resource must be deleted.
func (l Lifetime) Over(now time.Time) bool { return !l.ends.IsZero() && !now.Before(l.ends) }

// Ending reports whether it is time to warn of the end.
func (l Lifetime) Ending(now time.Time) bool { return !l.ends.IsZero() && !now.Before(l.warning()) }

// Next returns when one of these will change; the zero time for never.
func (l Lifetime) Next(now time.Time) time.Time {
	switch {
	case l.Over(now):
		return time.Time{}
	case l.Ending(now):
		return l.ends
	case l.ends.IsZero():
		return time.Time{}
	}
	return l.warning()
}

func (l Lifetime) warning() time.Time { return l.ends.Add(-l.notice()) }

func (l Lifetime) notice() time.Duration { return min(l.ttl/warnedShare, longestNotice) }

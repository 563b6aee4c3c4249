package status

import (
	"slices"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/example/appservice-operator/api/v1"
)

// A status is written at once when its meaning has changed, and always for a new generation. Changes that flap are
// written at these rates:
const (
	// detailPeriod is the time between writes that change counters and messages only.
	detailPeriod = 5 * time.Second
	// meaningBurst changes of meaning are written at once, later ones at a rate of one per meaningPeriod.
	meaningBurst  = 6
	meaningPeriod = 10 * time.Second
)

// writeRate limits the rate of status writes of one resource.
type writeRate struct {
	written time.Time // of the last write
	meaning *rate.Limiter
}

// wait returns the time until a status that differs from the previous one may be written; 0 for now, which then counts
// as written.
func (p *writeRate) wait(now time.Time, previous, current *v1.AppServiceStatus) time.Duration {
	if previous.ObservedGeneration != current.ObservedGeneration {
		p.meaning = nil // a new spec starts over: the rate is up to its author
	} else {
		if equality.Semantic.DeepEqual(meaning(previous), meaning(current)) {
			if left := detailPeriod - now.Sub(p.written); left > 0 {
				return left
			}
		} else if left := p.take(now); left > 0 {
			return left
		}
	}
	p.written = now
	return 0
}

// take uses up one of the changes of meaning that may be written, or returns the time until there is one.
func (p *writeRate) take(now time.Time) time.Duration {
	if p.meaning == nil {
		p.meaning = rate.NewLimiter(rate.Every(meaningPeriod), meaningBurst)
	}
	reservation := p.meaning.ReserveN(now, 1)
	left := reservation.DelayFrom(now)
	if left > 0 {
		reservation.CancelAt(now)
	}
	return left
}

// meaning returns a status without what changes while pods come and go: counters, and the wording of messages.
func meaning(status *v1.AppServiceStatus) *v1.AppServiceStatus {
	out := *status
	out.Replicas, out.UpdatedReplicas, out.ReadyReplicas, out.AvailableReplicas, out.UnavailableReplicas = 0, 0, 0, 0, 0
	out.Readiness, out.Resources, out.NextAttemptTime = "", nil, nil
	out.Conditions, out.Problems = slices.Clone(status.Conditions), slices.Clone(status.Problems)
	for i := range out.Conditions {
		condition := &out.Conditions[i]
		condition.Message = ""
		if condition.Type == v1.ConditionProgressing || condition.Type == v1.ConditionAvailable {
			condition.Reason = "" // from the Deployment, whose controller changes it several times in a rollout
		}
	}
	for i := range out.Problems {
		out.Problems[i].Message = ""
	}
	return &out
}

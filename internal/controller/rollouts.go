package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/appservice-operator/internal/release"
)

// rolloutRetry is how soon a rollout that had to wait for others is tried again.
const rolloutRetry = 5 * time.Second

// Rollouts bounds how many resources roll their pods at a time where the operator causes it: a new chart or a new version
// of the operator. What users cause is never held up. It is safe for concurrent use.
type Rollouts struct {
	// Limit of concurrent rollouts.
	Limit int

	mu     sync.Mutex
	active map[types.UID]bool
}

// begin takes a place for a resource and tells whether there was one, or it had one.
func (r *Rollouts) begin(uid types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.active[uid] && len(r.active) >= r.Limit {
		return false
	}
	if r.active == nil {
		r.active = map[types.UID]bool{}
	}
	r.active[uid] = true
	return true
}

// end gives the place of a resource back, if it has one.
func (r *Rollouts) end(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.active, uid)
}

// mayAct tells whether the action may go on now: always, except where the operator itself causes a rollout while as many
// as are allowed are under way.
func (r *Reconciler) mayAct(p *pass) bool {
	causedByUser := p.previous.Release == nil || p.previous.ObservedGeneration != p.resource.GetGeneration() ||
		p.memory.settled && p.memory.capabilities == p.basis.capabilities
	if p.state != release.OutOfDate || causedByUser || !p.plan.RollsPods() {
		return true
	}
	return r.Rollouts.begin(p.resource.GetUID())
}

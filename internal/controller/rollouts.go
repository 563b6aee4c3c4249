package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/appservice-operator/internal/release"
)

// rolloutRetry is how soon a rollout that had to wait for others is tried again.
const rolloutRetry = 5 * time.Second

// Rollouts bounds how many resources roll their pods at a time if the operator causes it: a new chart or a new version
// of the operator. What users cause is never held up. It is safe for concurrent use.
type Rollouts struct {
	// Limit of concurrent rollouts.
	Limit int

	mu     sync.Mutex
	active map[types.NamespacedName]bool
}

// begin takes a place for a resource and reports whether there was one, or it had one.
func (r *Rollouts) begin(name types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.active[name] && len(r.active) >= r.Limit {
		return false
	}
	if r.active == nil {
		r.active = map[types.NamespacedName]bool{}
	}
	r.active[name] = true
	return true
}

// end returns the place of a resource, if it has one. A resource that was made again under its name has that of the one before.
func (r *Rollouts) end(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.active, name)
}

// mayAct reports whether the action may go on now: always, unless the operator itself causes a rollout while as many
// as are allowed are under way.
func (r *Reconciler) mayAct(s *scope, wanted rendering, a action) bool {
	causedByUser := s.previous.Release == nil || s.previous.ObservedGeneration != s.resource.GetGeneration() ||
		s.memory.settled != 0 && s.memory.settled == wanted.inputs.capabilities
	if a.state != release.OutOfDate || causedByUser || !a.plan.RollsPods() {
		return true
	}
	return r.Rollouts.begin(s.name())
}

package release

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Rollouts bounds how many resources roll their pods at a time if the operator causes it: a new chart or a new version
// of the operator. What users cause is never held up. It is safe for concurrent use.
type Rollouts struct {
	// Limit of concurrent rollouts.
	Limit int

	mu     sync.Mutex
	active map[types.NamespacedName]bool
}

// Begin takes a place for a resource and reports whether there was one, or it had one.
func (r *Rollouts) Begin(name types.NamespacedName) bool {
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

// End returns the place of a resource, if it has one. A resource that was made again under its name has that of the one before.
func (r *Rollouts) End(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.active, name)
}

package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/reference"
	"github.com/example/appservice-operator/internal/render"
)

// memory is what the process remembers of each resource. Losing it costs time, never correctness.
type memory struct {
	mu        sync.Mutex
	resources map[types.NamespacedName]*remembered
}

// remembered is what is remembered of one resource. One reconcile at a time uses it.
type remembered struct {
	uid types.UID

	// desired was rendered on this basis.
	desired *render.Result
	basis   basis
	facts   postrender.Facts
	groups  map[string]bool // API groups of what was rendered

	// references of what the templates made on that basis.
	references []reference.Reference
	// equal are the versions of the objects that were found to be as desired, by key; nil where none were compared.
	equal map[render.Key]string
	// settled says that the objects were once as rendered in this process, with these capabilities: a change after that
	// is not the operator's.
	settled      bool
	capabilities int64

	// written is the resource after the last status write, until the cache shows it.
	written *unstructured.Unstructured

	// wrote is what was last written of a release that is still to be recorded.
	wrote wrote

	// diagnosis of the Deployment; nil while it is as desired.
	diagnosis *diagnosis

	failure failure
}

// wrote is the digest of a release and what was written of it, in words.
type wrote struct{ digest, plan string }

// basis is what the templates depend on.
type basis struct {
	generation   int64
	capabilities int64
	restarted    string
}

// newest gives the resource as the last status write left it where the cache is still behind that: a patch made from an
// older status would leave fields as they are that have changed since.
func (m *remembered) newest(cached *unstructured.Unstructured) *unstructured.Unstructured {
	if m.written == nil {
		return cached
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), m.written.GetResourceVersion())
	if err == nil && order < 0 {
		return m.written
	}
	m.written = nil
	return cached
}

// of gives what is remembered of a resource, and the UID of an earlier one of its name that was remembered until now.
func (m *memory) of(resource *unstructured.Unstructured) (known *remembered, earlier types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := types.NamespacedName{Namespace: resource.GetNamespace(), Name: resource.GetName()}
	known = m.resources[name]
	if known == nil || known.uid != resource.GetUID() {
		if known != nil {
			earlier = known.uid
		}
		known = &remembered{uid: resource.GetUID()}
		if m.resources == nil {
			m.resources = map[types.NamespacedName]*remembered{}
		}
		m.resources[name] = known
	}
	return known, earlier
}

// uid gives the UID of a resource that is remembered; empty for any other.
func (m *memory) uid(name types.NamespacedName) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.resources[name]; known != nil {
		return known.uid
	}
	return ""
}

// rendering lists the resources of which a rendered object, left out or not, is of a group.
func (m *memory) rendering(group string) []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []types.NamespacedName
	for name, known := range m.resources {
		if known.groups[group] {
			list = append(list, name)
		}
	}
	return list
}

// rendered notes what was rendered on a basis and with the facts of the cluster.
func (m *memory) rendered(known *remembered, desired *render.Result, on basis, facts postrender.Facts) {
	groups := map[string]bool{}
	for _, object := range desired.Objects {
		groups[object.GroupVersionKind().Group] = true
	}
	for _, key := range desired.Unserved {
		groups[key.Group] = true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known.desired, known.basis, known.facts, known.groups, known.equal = desired, on, facts, groups, nil
}

// asBefore tells whether objects are the very ones that were found to be as desired.
func (m *remembered) asBefore(objects map[render.Key]client.Object) bool {
	if m.equal == nil || len(objects) != len(m.equal) {
		return false
	}
	for key, object := range objects {
		if version, found := m.equal[key]; !found || version != object.GetResourceVersion() {
			return false
		}
	}
	return true
}

// found notes the objects that were found to be as desired.
func (m *remembered) found(objects map[render.Key]client.Object) {
	m.equal = make(map[render.Key]string, len(objects))
	for key, object := range objects {
		m.equal[key] = object.GetResourceVersion()
	}
}

// forget drops a resource that is gone and gives the UID it had, if it was known.
func (m *memory) forget(name types.NamespacedName) []types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.resources[name]
	delete(m.resources, name)
	if known == nil {
		return nil
	}
	return []types.UID{known.uid}
}

// The time between attempts of a reconcile that fails: it doubles from the first to the last. A change of what is watched
// brings the next attempt forward, but never closer to the one before than the first.
const (
	firstRetry = 5 * time.Second
	lastRetry  = 2 * time.Minute
	// cheapRetry takes the place of firstRetry after an attempt that wrote nothing.
	cheapRetry = time.Second
)

// failure counts the failed attempts at one generation.
type failure struct {
	generation int64
	attempts   int
	stale      time.Time // of the first attempt that the caches were too old for
	last       time.Time
	until      time.Time
	closest    time.Duration // between this attempt and the next
}

// wait is the time until the next attempt, asked for by a timer that is over or by a change. A new generation is tried
// at once.
func (f *failure) wait(now time.Time, generation int64) time.Duration {
	if f.generation != generation || f.attempts == 0 || !now.Before(f.until) {
		return 0
	}
	f.until = f.last.Add(f.closest)
	return max(0, f.until.Sub(now))
}

// mayPass notes an attempt that the caches were too old for, and tells whether they may still catch up within moments.
func (f *failure) mayPass(now time.Time) bool {
	if f.stale.IsZero() {
		f.stale = now
	}
	return now.Sub(f.stale) < stalePatience
}

// again notes a failed attempt, cheap where it wrote nothing, and gives the time until the next one.
func (f *failure) again(now time.Time, generation int64, cheap bool) time.Duration {
	if f.generation != generation {
		*f = failure{generation: generation, stale: f.stale}
	}
	delay := lastRetry
	if f.attempts < 10 {
		delay = min(lastRetry, firstRetry<<f.attempts)
	}
	f.attempts++
	f.last, f.until, f.closest = now, now.Add(delay), firstRetry
	if cheap {
		f.closest = cheapRetry
	}
	return delay
}

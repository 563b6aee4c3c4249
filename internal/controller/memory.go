package controller

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/postrender"
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

	// outline is that of what was rendered on this basis; desired is all of it, nil again once it is real: rendering it anew
	// takes a millisecond, keeping it 45 KB.
	outline *render.Outline
	desired *render.Result
	basis   basis
	facts   postrender.Facts

	// wanted are the claims of the routes that were rendered.
	wanted hosts.Wanted
	// references of what the templates made on that basis.
	references []dependency.Reference
	// equal are the objects that were found to be as desired.
	equal equal
	// settled says that the objects were once as rendered in this process, with these capabilities: a change after that
	// is not the operator's.
	settled      bool
	capabilities int64

	// written is the resource after the last status write, until the cache shows it.
	written *unstructured.Unstructured

	// wrote is what was last written of a release that is still to be recorded.
	wrote wrote
	// took is the time spent on the action that is under way.
	took time.Duration

	// diagnosis of the Deployment; nil while it is as desired.
	diagnosis *diagnosis

	failure failure

	pace pace
}

// equal are the versions of objects that were found to be as what has the digest.
type equal struct {
	digest   string
	versions map[kube.Key]string
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
func (m *memory) newest(known *remembered, cached *unstructured.Unstructured) *unstructured.Unstructured {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known.behind(cached) {
		return known.written
	}
	known.written = nil
	return cached
}

// wrote notes a resource as a status write left it.
func (m *memory) wrote(known *remembered, written *unstructured.Unstructured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known.written = written
}

// seen drops what a status write left when the cache shows it.
func (m *memory) seen(cached client.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.resources[client.ObjectKeyFromObject(cached)]
	if known != nil && !known.behind(cached) {
		known.written = nil
	}
}

// behind tells whether the cache shows a resource as it was before the last status write.
func (m *remembered) behind(cached client.Object) bool {
	if m.written == nil {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), m.written.GetResourceVersion())
	return err == nil && order < 0
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
		if known.renders(group) {
			list = append(list, name)
		}
	}
	return list
}

// rendered notes what was rendered on a basis and with the facts of the cluster.
func (m *memory) rendered(known *remembered, desired *render.Result, on basis, facts postrender.Facts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	outline := desired.Outline
	known.outline, known.desired, known.basis, known.facts = &outline, desired, on, facts
	known.wanted = hosts.WantedBy(desired.Objects)
}

// unrendered drops what was rendered.
func (m *memory) unrendered(known *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known.outline, known.desired = nil, nil
}

// renders tells whether a rendered object, left out or not, is of an API group.
func (m *remembered) renders(group string) bool {
	of := func(key kube.Key) bool { return key.Group == group }
	return m.outline != nil && (slices.ContainsFunc(m.outline.Keys, of) || slices.ContainsFunc(m.outline.Unserved, of))
}

// asBefore tells whether objects are the very ones that were found to be as they still are to be.
func (m *remembered) asBefore(objects map[kube.Key]client.Object) bool {
	if m.outline == nil || m.outline.Digest != m.equal.digest || len(objects) != len(m.equal.versions) {
		return false
	}
	for key, object := range objects {
		if version, found := m.equal.versions[key]; !found || version != object.GetResourceVersion() {
			return false
		}
	}
	return true
}

// found notes the objects that were found to be as desired.
func (m *remembered) found(objects map[kube.Key]client.Object) {
	m.equal = equal{m.outline.Digest, make(map[kube.Key]string, len(objects))}
	for key, object := range objects {
		m.equal.versions[key] = object.GetResourceVersion()
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

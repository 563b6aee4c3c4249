// Package hosts decides which resource serves a host. A host belongs to one namespace, the first of these that exists:
//   - the one that the policy grants it to,
//   - of those that serve it, the one that has served it longest,
//   - of those that request it, the oldest.
//
// Within a namespace, one path belongs to one resource. It reads live routes, of whomever, from informers and requested
// ones from reconciles, and never writes: a reconcile leaves out routes that are held back. A host that is served is
// never taken away: only new requests wait.
package hosts

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// Hosts knows all live and requested routes. It is shared by the controllers of all kinds and safe for concurrent use.
//
// A requested route is granted or waits, as a whole. A grant lasts until the resource requests something else, or none.
type Hosts struct {
	own    cache.Cache // routes with the operator's label
	others cache.Cache // all other routes
	mapper meta.RESTMapper

	watching  sync.Mutex
	watched   map[feed]*watched
	resources []toolscache.InformerSynced // whether the resources of a kind are listed

	mu     sync.Mutex
	queues map[schema.GroupKind]queue
	known  map[owner]*resource
	live   map[feed]map[routeKey]*candidate
	rules  Rules
	all    hostIndex
	// wildcards of others' routes, and the resources by the routes that they are warned of, or wait for.
	wildcards hostIndex
	below     map[routeKey]map[owner]bool
	now       func() time.Time
}

// resource has the hosts that one resource requests and serves.
type resource struct {
	owner     owner
	born      born
	requested map[kube.Key]*candidate
	// serves says since when it serves a host. Once this process has reconciled the resource, its status no longer counts.
	serves     map[string]time.Time
	reconciled bool
	// retained are the hosts that it serves and no requested route names; nil for none.
	retained *candidate
}

// New returns a Hosts that reads live routes of the kinds that the mapper knows from two caches: own has those with the
// operator's label, others the rest. When the rules of a namespace change, its resources have to be reconciled.
func New(own, others cache.Cache, mapper meta.RESTMapper, rules Rules) *Hosts {
	return &Hosts{
		own: own, others: others, mapper: mapper, rules: rules,
		watched: map[feed]*watched{}, queues: map[schema.GroupKind]queue{},
		known: map[owner]*resource{}, live: map[feed]map[routeKey]*candidate{}, all: newHostIndex(),
		wildcards: newHostIndex(), below: map[routeKey]map[owner]bool{}, now: time.Now,
	}
}

// Requested are the paths of the route objects that a resource renders.
type Requested map[kube.Key][]RoutePath

// RequestedBy lists the paths of rendered objects; nil if there are no routes among them.
func RequestedBy(rendered []*unstructured.Unstructured) Requested {
	var requested Requested
	for _, object := range rendered {
		if paths := RoutePathsOf(object); len(paths) > 0 {
			if requested == nil {
				requested = Requested{}
			}
			requested[kube.KeyOf(object)] = paths
		}
	}
	return requested
}

// Limit returns an error if the routes among rendered objects have more paths together than a resource may.
func Limit(rendered []*unstructured.Unstructured) error {
	count := 0
	for _, paths := range RequestedBy(rendered) {
		count += len(paths)
	}
	return limits.OfRoutePaths(count)
}

// Settle replaces the routes that a resource requests, and returns the routes that have to be held back: neither
// written nor deleted. Objects are those that are live according to the reconcile.
//
// Each reconcile settles the routes that it is about to write. If it writes nothing, because the resource is paused,
// deleted or refused, it calls Rest: then the resource keeps the hosts that it serves and waits for none.
func (h *Hosts) Settle(ctx context.Context, of client.Object, requested Requested,
	objects map[kube.Key]client.Object) ([]HeldRoute, error) {
	if len(requested) > 0 {
		if err := h.watch(ctx, requested); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.settle(of, requested, objects), nil
}

func (h *Hosts) settle(of client.Object, requested Requested, objects map[kube.Key]client.Object) []HeldRoute {
	by := ownerOf(of)
	r := h.known[by]
	if len(requested) == 0 && r == nil && servedBy(of) == nil {
		return nil
	}
	r = h.reconciling(of)
	first := r.serves == nil
	if first {
		r.serves = map[string]time.Time{}
	}
	candidates := make(map[kube.Key]*candidate, len(requested))
	for key, paths := range requested {
		c := &candidate{owner: by, route: routeKey{key, by.Namespace}, born: r.born, paths: paths, since: r.serves}
		if live := objects[key]; live != nil && first { // its status is of an operator that did not note it
			for _, path := range routePathsOf(live, limits.RoutePaths) {
				r.note(path.Host, live.GetCreationTimestamp().Time)
			}
		}
		candidates[key] = c
	}
	r.prune(candidates, objects)
	for _, c := range candidates {
		c.waits = h.reasonToWait(c, r, objects[c.route.Key])
	}
	h.replace(r, candidates)
	var held []HeldRoute
	for _, key := range slices.SortedFunc(maps.Keys(candidates), kube.Key.Compare) {
		if c := candidates[key]; c.waits != nil && !h.grantCycle(c) {
			held = append(held, HeldRoute{key, c.waits})
		}
	}
	return held
}

// Rest drops the requests of a resource. It keeps the hosts that it serves.
func (h *Hosts) Rest(of client.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known[ownerOf(of)] != nil || servedBy(of) != nil {
		h.replace(h.reconciling(of), nil)
	}
}

// Gone drops a resource that no longer exists.
func (h *Hosts) Gone(kind schema.GroupKind, name types.NamespacedName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	by := owner{kind, name}
	if r := h.known[by]; r != nil {
		r.serves = nil
		h.replace(r, nil)
		delete(h.known, by)
		for _, waiting := range h.below {
			delete(waiting, by)
		}
	}
}

// Serving returns the hosts that a resource serves, by the objects that are live after a reconcile, for its status; and
// the conflicts with those who come before it, which an earlier operator, another writer or a grant has left.
func (h *Hosts) Serving(of client.Object, objects map[kube.Key]client.Object) (list []v1.HostStatus, beside []error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.known[ownerOf(of)]
	if r == nil {
		return nil, nil
	}
	r = h.reconciling(of)
	for _, key := range slices.SortedFunc(maps.Keys(r.requested), kube.Key.Compare) {
		c := r.requested[key]
		if c.waits != nil || objects[key] == nil {
			continue
		}
		live := routePathsOf(objects[key], limits.RoutePaths)
		for _, path := range c.paths {
			if slices.ContainsFunc(live, func(p RoutePath) bool { return p.Host == path.Host }) {
				r.note(path.Host, h.now())
			}
		}
		if err := h.precedent(c); err != nil {
			beside = append(beside, err)
		}
	}
	if r.requested != nil { // otherwise it rests, and what its spec names is not known
		r.prune(r.requested, objects)
		h.review(h.retain(r, nil)...)
	}
	for _, host := range slices.Sorted(maps.Keys(r.serves)) {
		list = append(list, v1.HostStatus{Host: host, Since: metav1.NewTime(r.serves[host])})
	}
	return list, beside
}

// note records that a resource serves a host, unless that is known.
func (r *resource) note(host string, since time.Time) {
	if _, known := r.serves[host]; !known && host != "" {
		r.serves[host] = since.Truncate(time.Second)
	}
}

// Kinds are the kinds of routes.
func Kinds() []schema.GroupKind { return slices.Clone(routeKinds) }

// Routes reports whether objects of a kind are routes.
func Routes(kind schema.GroupKind) bool { return slices.Contains(routeKinds, kind) }

// prune drops the hosts that a resource no longer requests and that none of its live routes is for.
func (r *resource) prune(requested map[kube.Key]*candidate, objects map[kube.Key]client.Object) {
	for host := range r.serves {
		if !isRequested(requested, host) && !isServed(objects, host) {
			delete(r.serves, host)
		}
	}
}

// isRequested reports whether a requested route is for a host.
func isRequested(requested map[kube.Key]*candidate, host string) bool {
	for _, c := range requested {
		if slices.ContainsFunc(c.paths, func(p RoutePath) bool { return p.Host == host }) {
			return true
		}
	}
	return false
}

// isServed reports whether a live route is for a host.
func isServed(objects map[kube.Key]client.Object, host string) bool {
	for key, object := range objects {
		if Routes(key.GroupKind) && slices.ContainsFunc(routePathsOf(object, limits.RoutePaths),
			func(p RoutePath) bool { return p.Host == host }) {
			return true
		}
	}
	return false
}

// reconciling returns the entry of a resource that this process reconciles: from then on, it alone says which hosts the
// resource serves.
func (h *Hosts) reconciling(of client.Object) *resource {
	by := ownerOf(of)
	if h.known[by] == nil {
		h.known[by] = &resource{owner: by}
	}
	r := h.known[by]
	if !r.reconciled {
		r.born, r.reconciled, r.serves = bornOf(of), true, servedBy(of)
	}
	return r
}

// servedBy returns the hosts that the status of a resource says it serves, since its creation at the earliest; nil if
// it names none.
func servedBy(of client.Object) map[string]time.Time {
	untyped, ok := of.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	field, _, _ := unstructured.NestedFieldNoCopy(untyped.Object, "status", "hosts")
	list, _ := field.([]any)
	var serves map[string]time.Time
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		host, _ := fields["host"].(string)
		text, _ := fields["since"].(string)
		since, err := time.Parse(time.RFC3339, text)
		if host == "" || err != nil {
			continue
		}
		if created := of.GetCreationTimestamp().Time; since.Before(created) {
			since = created
		}
		if serves == nil {
			serves = map[string]time.Time{}
		}
		serves[strings.ToLower(host)] = since
	}
	return serves
}

// learn records the hosts in the status of a resource, until this process reconciles it.
func (h *Hosts) learn(of client.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	by := ownerOf(of)
	r, serves := h.known[by], servedBy(of)
	switch {
	case r != nil && r.reconciled || r == nil && serves == nil:
		return
	case r == nil:
		r = &resource{owner: by}
		h.known[by] = r
	}
	r.born, r.serves = bornOf(of), serves
	h.retain(r, nil)
}

// replace replaces the requests of a resource, and grants those that waited for hosts that it no longer requests.
func (h *Hosts) replace(r *resource, candidates map[kube.Key]*candidate) {
	before := r.requested
	for _, c := range before {
		h.all.remove(c)
	}
	r.requested = candidates
	for _, c := range candidates {
		if conflict := (*ConflictError)(nil); c.waits == nil || errors.As(c.waits, &conflict) {
			h.all.add(c) // what the platform refuses waits for nobody, and nobody for it
		}
	}
	changed := h.retain(r, before)
	for key, old := range before {
		if c := candidates[key]; old.waits == nil && (c == nil || c.waits != nil || !slices.Equal(c.paths, old.paths)) {
			changed = append(changed, old)
		}
	}
	for key, c := range candidates {
		if old := before[key]; c.waits == nil && (old == nil || !slices.Equal(c.paths, old.paths)) {
			changed = append(changed, c)
		}
	}
	h.review(changed...)
}

// retain replaces the candidate for the hosts that a resource serves and no longer requests, with the paths that it
// requested, as far as they are known. It returns the one before if that had more.
func (h *Hosts) retain(r *resource, requested map[kube.Key]*candidate) []*candidate {
	before := r.retained
	paths := map[string][]RoutePath{}
	if r.retained = nil; before != nil {
		h.all.remove(before)
		for _, path := range before.paths {
			paths[path.Host] = append(paths[path.Host], path)
		}
	}
	for _, c := range requested {
		for _, path := range c.paths {
			if c.waits == nil {
				paths[path.Host] = append(paths[path.Host], path)
			}
		}
	}
	named := map[string]bool{}
	for _, c := range r.requested {
		for _, path := range c.paths {
			named[path.Host] = named[path.Host] || c.waits == nil
		}
	}
	c := &candidate{owner: r.owner, route: routeKey{namespace: r.owner.Namespace}, born: r.born, since: r.serves}
	for _, host := range slices.Sorted(maps.Keys(r.serves)) {
		if path := (RoutePath{Host: host}); !named[host] && h.rules.Refused(r.owner.Namespace, kube.Key{}, path) == nil {
			if len(paths[host]) == 0 {
				paths[host] = []RoutePath{path}
			}
			c.paths = append(c.paths, paths[host]...)
		}
	}
	if c.paths = distinct(c.paths); len(c.paths) > 0 {
		r.retained = c
		h.all.add(c)
	}
	if before != nil && !slices.Equal(before.paths, c.paths) {
		return []*candidate{before}
	}
	return nil
}

// reasonToWait returns why a requested route has to wait; nil if it is granted. Hosts that the resource serves already
// need no grant.
func (h *Hosts) reasonToWait(c *candidate, r *resource, live client.Object) error {
	for _, path := range c.paths {
		if err := h.rules.Refused(c.route.namespace, c.route.Key, path); err != nil {
			return err
		}
	}
	for path, holder := range h.holders(c, r, live) {
		return h.conflict(c, holder, path)
	}
	return nil
}

// holders are those who have paths of a requested route.
func (h *Hosts) holders(c *candidate, r *resource, live client.Object) iter.Seq2[RoutePath, *candidate] {
	exists := &candidate{}
	if live != nil {
		exists.paths = routePathsOf(live, limits.RoutePaths)
	}
	granted := r.requested[c.route.Key]
	if granted != nil && granted.waits != nil {
		granted = nil
	}
	return func(yield func(RoutePath, *candidate) bool) {
		for _, path := range c.paths {
			_, served := r.serves[path.Host]
			if granted.has(path) || (served || path.Host == "") && exists.has(path) {
				continue
			}
			for other := range h.all.rivals(c, path, h.rules) {
				elsewhere := other.route.namespace != c.route.namespace
				mine := elsewhere && (h.grantedOver(c, other, path) || served && !h.shared(c, other, path))
				if other.waits == nil && !mine && !yield(path, other) {
					return
				}
			}
			if other := h.wildcardOver(c, path); other != nil && !served {
				if may, _ := h.rules.Below(c.route.namespace, path.Host); !may && !yield(path, other) {
					return
				}
			}
		}
	}
}

// wildcardOver returns the oldest route of others in another namespace that has a wildcard over a path; nil if there is
// none, or if the platform granted the host.
func (h *Hosts) wildcardOver(c *candidate, path RoutePath) (oldest *candidate) {
	for other := range h.wildcards.rivals(c, path, h.rules) {
		elsewhere := other.route.namespace != c.route.namespace
		if elsewhere && !h.grantedOver(c, other, path) && (oldest == nil || other.born.compare(oldest.born) < 0) {
			oldest = other
		}
	}
	return oldest
}

// grantedOver reports whether the platform granted a host to the namespace of a candidate, and not to another's.
func (h *Hosts) grantedOver(c, other *candidate, path RoutePath) bool {
	return h.rules.Granted(c.route.namespace, path.Host) && !h.rules.Granted(other.route.namespace, path.Host)
}

func (h *Hosts) shared(c, other *candidate, path RoutePath) bool {
	return slices.ContainsFunc(other.paths, func(theirs RoutePath) bool {
		return path.hostsOverlap(theirs) && c.shares(path, other, theirs, h.rules)
	})
}

// precedent returns the conflict with one who comes before a candidate that serves beside it; nil if there is none.
func (h *Hosts) precedent(c *candidate) error {
	now := h.now()
	for _, path := range c.paths {
		for other := range h.all.rivals(c, path, h.rules) {
			age := other.serves(path.Host, now).Compare(c.serves(path.Host, now))
			// A route made in the same second came later: this candidate was granted when there was none.
			longer := age < 0 || age == 0 && !other.live && other.born.name < c.born.name
			if other.waits == nil && !h.leaves(c, other, path) &&
				(h.grantedOver(other, c, path) || longer && !h.grantedOver(c, other, path)) {
				return h.conflict(c, other, path)
			}
		}
		if other := h.wildcardOver(c, path); other != nil && other.born.at.Before(c.serves(path.Host, now)) {
			if _, named := h.rules.Below(c.route.namespace, path.Host); !named {
				return h.conflict(c, other, path)
			}
		}
	}
	return nil
}

// review grants the routes that waited for candidates that changed, and for no others: first to whom the platform
// granted it, then the oldest.
func (h *Hosts) review(changed ...*candidate) {
	found := map[*candidate]bool{}
	for _, c := range changed {
		for _, path := range c.paths {
			for other := range h.all.rivals(c, path, h.rules) {
				switch {
				case other.waits != nil:
					found[other] = true
				case !other.live:
					h.wake(other.owner) // its status may say that it serves beside another one
				}
			}
		}
	}
	rank := func(c *candidate) int {
		if slices.ContainsFunc(c.paths, func(p RoutePath) bool { return !h.rules.Granted(c.route.namespace, p.Host) }) {
			return 1
		}
		return 0
	}
	for _, c := range slices.SortedFunc(maps.Keys(found), func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.born.compare(b.born))
	}) {
		if h.reasonToWait(c, h.known[c.owner], nil) == nil {
			c.waits = nil
		} else if !h.grantCycle(c) {
			continue
		}
		h.wake(c.owner)
	}
}

// see records an event of a live route object. The names of a route count; a route for all hosts, or a wildcard, takes
// no host from others unless a resource that may have it requests it. Wildcards of others are known, to warn of them.
func (h *Hosts) see(from feed, object client.Object, deleted bool) {
	seen, wide := candidatesOf(object)
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.show(from, seen, deleted, h.all); old != nil {
		h.review(old)
	}
	if !from.others {
		return
	}
	from.wildcards = true
	if old := h.show(from, wide, deleted, h.wildcards); old != nil {
		for who := range h.below[old.route] {
			h.wake(who)
		}
		delete(h.below, old.route)
	}
}

// show replaces a live route in an index. It returns the route as it was before, if that differs.
func (h *Hosts) show(from feed, seen *candidate, deleted bool, in hostIndex) *candidate {
	old := h.live[from][seen.route]
	if old != nil && !deleted && old.alike(seen) {
		return nil
	}
	if old != nil {
		in.remove(old)
		delete(h.live[from], old.route)
	}
	if !deleted && len(seen.paths) > 0 {
		if h.live[from] == nil {
			h.live[from] = map[routeKey]*candidate{}
		}
		h.live[from][seen.route] = seen
		in.add(seen)
	}
	return old
}

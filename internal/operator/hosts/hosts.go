// Package hosts decides which resource serves a host. A host belongs to one namespace, the first of these that exists:
//   - the one that the policy grants it to,
//   - of those that serve it, the one that has served it longest,
//   - the one with the oldest claim.
//
// Within a namespace, one path belongs to one resource. It reads live routes, of whomever, from informers and wanted
// ones from reconciles, and never writes: a reconcile leaves out routes that are held back. A host that is served is
// never taken away: only new claims wait.
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

// Hosts knows all live and wanted routes. It is shared by the controllers of all kinds and safe for concurrent use.
//
// A wanted route is granted or waits, as a whole. A grant lasts until the resource requests something else, or nothing.
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
	live   map[feed]map[place]*stake
	rules  Rules
	all    index
	// wildcards of others' routes, and the resources by the routes that they are warned of, or wait for.
	wildcards index
	below     map[place]map[owner]bool
	now       func() time.Time
}

// resource is what is known of a resource.
type resource struct {
	owner  owner
	born   born
	wanted map[kube.Key]*stake
	// serves says since when it serves a host. Once this process has reconciled the resource, its status no longer counts.
	serves     map[string]time.Time
	reconciled bool
	// kept are the hosts that it serves and no wanted route names; nil for none.
	kept *stake
}

// New returns a Hosts that reads live routes of the kinds that the mapper knows from two caches: own has those with the
// operator's label, others the rest. When the rules of a namespace change, its resources have to be reconciled.
func New(own, others cache.Cache, mapper meta.RESTMapper, rules Rules) *Hosts {
	return &Hosts{
		own: own, others: others, mapper: mapper, rules: rules,
		watched: map[feed]*watched{}, queues: map[schema.GroupKind]queue{},
		known: map[owner]*resource{}, live: map[feed]map[place]*stake{}, all: newIndex(),
		wildcards: newIndex(), below: map[place]map[owner]bool{}, now: time.Now,
	}
}

// Wanted are the claims of the route objects that a resource renders.
type Wanted map[kube.Key][]Claim

// WantedBy lists what rendered objects claim; nil if there are no routes among them.
func WantedBy(rendered []*unstructured.Unstructured) Wanted {
	var wanted Wanted
	for _, object := range rendered {
		if claims := ClaimsOf(object); len(claims) > 0 {
			if wanted == nil {
				wanted = Wanted{}
			}
			wanted[kube.KeyOf(object)] = claims
		}
	}
	return wanted
}

// Limit returns an error if the routes among rendered objects have more claims together than a resource may.
func Limit(rendered []*unstructured.Unstructured) error {
	count := 0
	for _, claims := range WantedBy(rendered) {
		count += len(claims)
	}
	return limits.OfClaims(count)
}

// Settle replaces the routes that a resource requests, and returns the routes that have to be held back: neither
// written nor deleted. Objects are those that are live according to the reconcile.
//
// Each reconcile settles what it is about to write. If it writes nothing, because the resource is paused, deleted or
// refused, it calls Rest: then the resource keeps what it serves and waits for nothing.
func (h *Hosts) Settle(ctx context.Context, of client.Object, wanted Wanted,
	objects map[kube.Key]client.Object) ([]Held, error) {
	if len(wanted) > 0 {
		if err := h.watch(ctx, wanted); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.settle(of, wanted, objects), nil
}

func (h *Hosts) settle(of client.Object, wanted Wanted, objects map[kube.Key]client.Object) []Held {
	by := ownerOf(of)
	r := h.known[by]
	if len(wanted) == 0 && r == nil && servedBy(of) == nil {
		return nil
	}
	r = h.reconciling(of)
	first := r.serves == nil
	if first {
		r.serves = map[string]time.Time{}
	}
	stakes := make(map[kube.Key]*stake, len(wanted))
	for key, claims := range wanted {
		s := &stake{owner: by, place: place{key, by.Namespace}, born: r.born, claims: claims, since: r.serves}
		if live := objects[key]; live != nil && first { // its status is of an operator that did not note it
			for _, claim := range claimsOf(live, limits.Claims) {
				r.note(claim.Host, live.GetCreationTimestamp().Time)
			}
		}
		stakes[key] = s
	}
	r.prune(stakes, objects)
	for _, s := range stakes {
		s.waits = h.judge(s, r, objects[s.place.Key])
	}
	h.replace(r, stakes)
	var held []Held
	for _, key := range slices.SortedFunc(maps.Keys(stakes), kube.Key.Compare) {
		if s := stakes[key]; s.waits != nil && !h.swap(s) {
			held = append(held, Held{key, s.waits})
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

// Gone drops everything that is known about a resource that no longer exists.
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
	for _, key := range slices.SortedFunc(maps.Keys(r.wanted), kube.Key.Compare) {
		s := r.wanted[key]
		if s.waits != nil || objects[key] == nil {
			continue
		}
		live := claimsOf(objects[key], limits.Claims)
		for _, claim := range s.claims {
			if slices.ContainsFunc(live, func(c Claim) bool { return c.Host == claim.Host }) {
				r.note(claim.Host, h.now())
			}
		}
		if err := h.precedent(s); err != nil {
			beside = append(beside, err)
		}
	}
	if r.wanted != nil { // otherwise it rests, and what its spec names is not known
		r.prune(r.wanted, objects)
		h.review(h.keep(r, nil)...)
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

// Kinds are the kinds whose objects make claims.
func Kinds() []schema.GroupKind { return slices.Clone(routeKinds) }

// Routes reports whether objects of a kind make claims.
func Routes(kind schema.GroupKind) bool { return slices.Contains(routeKinds, kind) }

// prune drops the hosts that a resource no longer requests and that none of its live routes is for.
func (r *resource) prune(wanted map[kube.Key]*stake, objects map[kube.Key]client.Object) {
	for host := range r.serves {
		if !names(wanted, host) && !serving(objects, host) {
			delete(r.serves, host)
		}
	}
}

// names reports whether a wanted route is for a host.
func names(wanted map[kube.Key]*stake, host string) bool {
	for _, s := range wanted {
		if slices.ContainsFunc(s.claims, func(c Claim) bool { return c.Host == host }) {
			return true
		}
	}
	return false
}

// serving reports whether a live route is for a host.
func serving(objects map[kube.Key]client.Object, host string) bool {
	for key, object := range objects {
		if Routes(key.GroupKind) && slices.ContainsFunc(claimsOf(object, limits.Claims),
			func(c Claim) bool { return c.Host == host }) {
			return true
		}
	}
	return false
}

// reconciling returns what is known of a resource that this process reconciles: from then on, it alone says what the
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
	whole, ok := of.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	field, _, _ := unstructured.NestedFieldNoCopy(whole.Object, "status", "hosts")
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

// learn records what the status of a resource says, until this process reconciles it.
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
	h.keep(r, nil)
}

// replace replaces the requests of a resource, and grants those that waited for hosts that it no longer requests.
func (h *Hosts) replace(r *resource, stakes map[kube.Key]*stake) {
	before := r.wanted
	for _, s := range before {
		h.all.remove(s)
	}
	r.wanted = stakes
	for _, s := range stakes {
		if conflict := (*ConflictError)(nil); s.waits == nil || errors.As(s.waits, &conflict) {
			h.all.add(s) // what the platform refuses waits for nobody, and nobody for it
		}
	}
	changed := h.keep(r, before)
	for key, old := range before {
		if s := stakes[key]; old.waits == nil && (s == nil || s.waits != nil || !slices.Equal(s.claims, old.claims)) {
			changed = append(changed, old)
		}
	}
	for key, s := range stakes {
		if old := before[key]; s.waits == nil && (old == nil || !slices.Equal(s.claims, old.claims)) {
			changed = append(changed, s)
		}
	}
	h.review(changed...)
}

// keep replaces the stake for the hosts that a resource serves and no longer requests, with the paths that it
// requested, as far as they are known. It returns the one before if that had more.
func (h *Hosts) keep(r *resource, wanted map[kube.Key]*stake) []*stake {
	before := r.kept
	paths := map[string][]Claim{}
	if r.kept = nil; before != nil {
		h.all.remove(before)
		for _, claim := range before.claims {
			paths[claim.Host] = append(paths[claim.Host], claim)
		}
	}
	for _, s := range wanted {
		for _, claim := range s.claims {
			if s.waits == nil {
				paths[claim.Host] = append(paths[claim.Host], claim)
			}
		}
	}
	named := map[string]bool{}
	for _, s := range r.wanted {
		for _, claim := range s.claims {
			named[claim.Host] = named[claim.Host] || s.waits == nil
		}
	}
	s := &stake{owner: r.owner, place: place{namespace: r.owner.Namespace}, born: r.born, since: r.serves}
	for _, host := range slices.Sorted(maps.Keys(r.serves)) {
		if claim := (Claim{Host: host}); !named[host] && h.rules.Refused(r.owner.Namespace, kube.Key{}, claim) == nil {
			if len(paths[host]) == 0 {
				paths[host] = []Claim{claim}
			}
			s.claims = append(s.claims, paths[host]...)
		}
	}
	if s.claims = distinct(s.claims); len(s.claims) > 0 {
		r.kept = s
		h.all.add(s)
	}
	if before != nil && !slices.Equal(before.claims, s.claims) {
		return []*stake{before}
	}
	return nil
}

// judge returns why a wanted route has to wait; nil if it is granted. Hosts that the resource serves already need no
// grant.
func (h *Hosts) judge(s *stake, r *resource, live client.Object) error {
	for _, claim := range s.claims {
		if err := h.rules.Refused(s.place.namespace, s.place.Key, claim); err != nil {
			return err
		}
	}
	for claim, holder := range h.holders(s, r, live) {
		return h.conflict(s, holder, claim)
	}
	return nil
}

// holders are those who have what a wanted route claims.
func (h *Hosts) holders(s *stake, r *resource, live client.Object) iter.Seq2[Claim, *stake] {
	exists := &stake{}
	if live != nil {
		exists.claims = claimsOf(live, limits.Claims)
	}
	granted := r.wanted[s.place.Key]
	if granted != nil && granted.waits != nil {
		granted = nil
	}
	return func(yield func(Claim, *stake) bool) {
		for _, claim := range s.claims {
			_, served := r.serves[claim.Host]
			if granted.has(claim) || (served || claim.Host == "") && exists.has(claim) {
				continue
			}
			for other := range h.all.rivals(s, claim, h.rules) {
				elsewhere := other.place.namespace != s.place.namespace
				mine := elsewhere && (h.before(s, other, claim) || served && !h.shared(s, other, claim))
				if other.waits == nil && !mine && !yield(claim, other) {
					return
				}
			}
			if other := h.above(s, claim); other != nil && !served {
				if may, _ := h.rules.Below(s.place.namespace, claim.Host); !may && !yield(claim, other) {
					return
				}
			}
		}
	}
}

// above returns the oldest route of others in another namespace that has a wildcard over a claim; nil if there is none,
// or if the platform granted the host.
func (h *Hosts) above(s *stake, claim Claim) (oldest *stake) {
	for other := range h.wildcards.rivals(s, claim, h.rules) {
		elsewhere := other.place.namespace != s.place.namespace
		if elsewhere && !h.before(s, other, claim) && (oldest == nil || other.born.compare(oldest.born) < 0) {
			oldest = other
		}
	}
	return oldest
}

// before reports whether the platform granted a host to the namespace of a stake, and not to that of another one.
func (h *Hosts) before(s, other *stake, claim Claim) bool {
	return h.rules.Granted(s.place.namespace, claim.Host) && !h.rules.Granted(other.place.namespace, claim.Host)
}

func (h *Hosts) shared(s, other *stake, claim Claim) bool {
	return slices.ContainsFunc(other.claims, func(theirs Claim) bool {
		return claim.hostsOverlap(theirs) && s.shares(claim, other, theirs, h.rules)
	})
}

// precedent returns the conflict with one who comes before a stake that serves beside it; nil if there is none.
func (h *Hosts) precedent(s *stake) error {
	now := h.now()
	for _, claim := range s.claims {
		for other := range h.all.rivals(s, claim, h.rules) {
			age := other.serves(claim.Host, now).Compare(s.serves(claim.Host, now))
			// A route made in the same second came later: this stake was granted when there was none.
			longer := age < 0 || age == 0 && !other.live && other.born.name < s.born.name
			if other.waits == nil && !h.leaves(s, other, claim) &&
				(h.before(other, s, claim) || longer && !h.before(s, other, claim)) {
				return h.conflict(s, other, claim)
			}
		}
		if other := h.above(s, claim); other != nil && other.born.at.Before(s.serves(claim.Host, now)) {
			if _, named := h.rules.Below(s.place.namespace, claim.Host); !named {
				return h.conflict(s, other, claim)
			}
		}
	}
	return nil
}

// review grants what has waited for stakes that changed and waits for nothing else: first to whom the platform granted
// it, then the oldest.
func (h *Hosts) review(changed ...*stake) {
	found := map[*stake]bool{}
	for _, s := range changed {
		for _, claim := range s.claims {
			for other := range h.all.rivals(s, claim, h.rules) {
				switch {
				case other.waits != nil:
					found[other] = true
				case !other.live:
					h.wake(other.owner) // its status may say that it serves beside another one
				}
			}
		}
	}
	rank := func(s *stake) int {
		if slices.ContainsFunc(s.claims, func(c Claim) bool { return !h.rules.Granted(s.place.namespace, c.Host) }) {
			return 1
		}
		return 0
	}
	for _, s := range slices.SortedFunc(maps.Keys(found), func(a, b *stake) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.born.compare(b.born))
	}) {
		if h.judge(s, h.known[s.owner], nil) == nil {
			s.waits = nil
		} else if !h.swap(s) {
			continue
		}
		h.wake(s.owner)
	}
}

// see records an event of a live route object. The names of a route count; a route for all hosts, or a wildcard, takes
// no host from others unless a resource that may have it requests it. Wildcards of others are known, to warn of them.
func (h *Hosts) see(from feed, object client.Object, deleted bool) {
	seen, wide := stakesOf(object)
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
		for who := range h.below[old.place] {
			h.wake(who)
		}
		delete(h.below, old.place)
	}
}

// show replaces what is known of a live route in an index. It returns what was known before if that is something else.
func (h *Hosts) show(from feed, seen *stake, deleted bool, in index) *stake {
	old := h.live[from][seen.place]
	if old != nil && !deleted && old.alike(seen) {
		return nil
	}
	if old != nil {
		in.remove(old)
		delete(h.live[from], old.place)
	}
	if !deleted && len(seen.claims) > 0 {
		if h.live[from] == nil {
			h.live[from] = map[place]*stake{}
		}
		h.live[from][seen.place] = seen
		in.add(seen)
	}
	return old
}

// Package hosts decides which resource serves a host. Between namespaces a host belongs to one, whatever the paths, unless the platform
// shares it; within a namespace, equal claims conflict. A host belongs to the resource to which the platform granted it; else to the one
// whose Ingress or HTTPRoute is live, unless its application was never ready and that of another one was; or, if no route is live, to the
// one of those waiting whose application was ready, the oldest first. It reads live routes from informers and wanted ones from reconciles,
// and never writes: a reconcile leaves out routes that are held back, and deletes those that have to go.
package hosts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// Hosts knows all live and wanted routes. It is shared by the controllers of all kinds and safe for concurrent use.
//
// A wanted route is granted or waits, as a whole. After each change, every wanted route without an obstacle is
// granted: a grant lasts until the resource wants something else, is forgotten, finds another's route live, or settles again while one
// that precedes it waits: only its own reconcile cannot be about to write it meanwhile.
type Hosts struct {
	informers cache.Cache
	mapper    meta.RESTMapper

	watching sync.Mutex
	watched  map[schema.GroupKind]*watched

	mu     sync.Mutex
	queues map[schema.GroupKind]queue
	wanted map[owner]map[kube.Key]*stake
	live   map[owner]map[place]*stake // objects without a controller belong to the zero owner
	owners map[place]owner            // of live objects
	seen   map[feed]string            // the newest version that an informer showed
	proven map[owner]bool             // whether applications were ever ready, as far as known
	rules  Rules
	all    index
}

// New returns a Hosts that reads live routes from informers, of the kinds that the mapper knows. When the rules of a namespace
// change, its resources have to be reconciled.
func New(informers cache.Cache, mapper meta.RESTMapper, rules Rules) *Hosts {
	return &Hosts{
		informers: informers, mapper: mapper,
		watched: map[schema.GroupKind]*watched{}, queues: map[schema.GroupKind]queue{},
		wanted: map[owner]map[kube.Key]*stake{}, live: map[owner]map[place]*stake{}, owners: map[place]owner{}, seen: map[feed]string{},
		proven: map[owner]bool{}, rules: rules, all: newIndex(),
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

// Count returns how many claims there are, of all routes together.
func (w Wanted) Count() int {
	count := 0
	for _, claims := range w {
		count += len(claims)
	}
	return count
}

// Settle replaces what a resource wants to serve, and returns the routes that have to be held back: neither written nor deleted.
// Objects are those that are live according to the reconcile, which may know of its own writes
// before the informers do.
//
// Each reconcile settles what it is about to write. If it writes nothing, because the resource is paused, deleted or refused, it
// calls Forget: then the resource keeps what is live and waits for nothing.
func (h *Hosts) Settle(ctx context.Context, resource client.Object, wanted Wanted, objects map[kube.Key]client.Object) ([]Held, error) {
	if len(wanted) > 0 {
		if err := h.watch(ctx, wanted); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.settle(resource, wanted, objects), nil
}

// Forget drops what a resource wants. It keeps its live routes.
func (h *Hosts) Forget(kind schema.GroupKind, name types.NamespacedName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	by := owner{kind, name}
	h.report(by, nil)
	h.want(by, nil)
}

// Gone drops everything that is known about a resource that no longer exists.
func (h *Hosts) Gone(kind schema.GroupKind, name types.NamespacedName) {
	h.Forget(kind, name)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.proven, owner{kind, name})
}

func (h *Hosts) settle(resource client.Object, wanted Wanted, objects map[kube.Key]client.Object) []Held {
	by := ownerOf(resource)
	if len(wanted) == 0 && h.wanted[by] == nil && h.live[by] == nil {
		return nil
	}
	h.report(by, objects)
	stakes := make(map[kube.Key]*stake, len(wanted))
	for key, claims := range wanted {
		stakes[key] = &stake{owner: by, place: place{key, resource.GetNamespace()}, born: bornOf(resource), claims: claims}
	}
	h.want(by, stakes)
	var held []Held
	for _, s := range ordered(stakes) {
		if s.waits != nil {
			held = append(held, Held{s.place.Key, s.waits})
		}
	}
	return held
}

// want replaces what a resource wants, and grants what has no obstacle.
func (h *Hosts) want(by owner, stakes map[kube.Key]*stake) {
	var changed []*stake
	for key, old := range h.wanted[by] {
		if s := stakes[key]; s != nil && s.alike(old) {
			stakes[key] = old
			continue
		}
		h.all.remove(old)
		if old.stands() {
			changed = append(changed, old)
		}
	}
	for key, s := range stakes {
		kept := s == h.wanted[by][key]
		if !kept {
			h.all.add(s)
		}
		if h.judge(s, true) || !kept && s.stands() {
			changed = append(changed, s)
		}
	}
	put(h.wanted, by, stakes)
	h.review(by, changed...)
}

// serving returns the oldest live route of the same resource that answers a claim; nil if there is none.
func (h *Hosts) serving(s *stake, claim Claim) (oldest *stake) {
	consider := func(live *stake) {
		if live.serves(claim) && (oldest == nil || live.born.compare(oldest.born) < 0) {
			oldest = live
		}
	}
	for _, live := range h.live[s.owner] {
		consider(live)
	}
	if orphan := h.live[owner{}][s.place]; orphan != nil {
		consider(orphan)
	}
	return oldest
}

// review judges again the wanted stakes that contradict stakes which were added, removed or changed: first whether granted ones
// have an obstacle now, then whether waiting ones are free, in order of precedence. Resources for which that makes a
// difference are reconciled, except for the one that is just settled.
func (h *Hosts) review(settled owner, changed ...*stake) {
	for len(changed) > 0 {
		affected := h.affected(changed)
		changed = nil
		for _, granted := range []bool{true, false} {
			for _, s := range affected {
				if s.granted() != granted || !h.judge(s, false) {
					continue
				}
				changed = append(changed, s)
				if s.owner != settled {
					h.wake(s.owner)
				}
			}
		}
	}
}

// affected lists the wanted stakes of the owners of stakes, and those that contradict these, in the order of their turns.
func (h *Hosts) affected(changed []*stake) []*stake {
	found := map[*stake]bool{}
	for _, s := range changed {
		for _, own := range h.wanted[s.owner] {
			found[own] = true
		}
		for _, claim := range s.claims {
			h.all.rivals(s, claim, h.rules, func(other *stake) { found[other] = true })
		}
	}
	maps.DeleteFunc(found, func(s *stake, _ bool) bool { return s.live })
	return slices.SortedFunc(maps.Keys(found), h.turns)
}

// ordered lists stakes by kind and name.
func ordered(stakes map[kube.Key]*stake) []*stake {
	return slices.SortedFunc(maps.Values(stakes), func(a, b *stake) int {
		return cmp.Or(cmp.Compare(a.place.Kind, b.place.Kind), cmp.Compare(a.place.Name, b.place.Name))
	})
}

// put sets an entry of a map of maps, or deletes it if it is empty.
func put[K, L comparable, V any](into map[K]map[L]V, key K, value map[L]V) {
	if len(value) == 0 {
		delete(into, key)
		return
	}
	into[key] = value
}

package hosts

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/extent"
	"github.com/example/appservice-operator/internal/kube"
)

// see records an event of a live route object.
func (h *Hosts) see(object client.Object, deleted bool) {
	seen := stakeOf(object)
	h.mu.Lock()
	defer h.mu.Unlock()
	known, feed := h.liveAt(seen.place), feedOf(seen.place)
	if latest := h.seen[feed]; latest == "" || kube.Newer(seen.version, latest) {
		h.seen[feed] = seen.version
	}
	if known != nil && known.ahead && kube.Newer(known.version, seen.version) {
		return // the informer is behind what the reconcile reported
	}
	if deleted {
		seen = nil
	}
	h.replace(owner{}, known, seen)
}

// report records the objects that a reconcile found and the informers have yet to show, and drops those that an earlier
// reconcile reported and that no longer exist.
func (h *Hosts) report(by owner, objects map[kube.Key]client.Object) {
	for at, known := range maps.Clone(h.live[by]) {
		if known.ahead && objects[at.Key] == nil {
			h.replace(by, known, nil)
		}
	}
	for key, object := range objects {
		if !Routes(key.GroupKind) {
			continue
		}
		at := place{key, object.GetNamespace()}
		if latest := h.seen[feedOf(at)]; latest != "" && !kube.Newer(object.GetResourceVersion(), latest) {
			continue // the informer showed that version or a later one, or its deletion
		}
		s := stakeOf(object)
		s.ahead = true
		h.replace(by, h.liveAt(at), s)
	}
}

// feed identifies what an informer shows in order of versions: the objects of a kind in a namespace.
type feed struct{ kind, namespace string }

func feedOf(at place) feed { return feed{at.Kind, at.namespace} }

func stakeOf(object client.Object) *stake {
	return &stake{
		owner: controllerOf(object), place: place{kube.KeyOf(object), object.GetNamespace()}, born: bornOf(object),
		claims: claimsOf(object, extent.Claims), live: true, version: object.GetResourceVersion(),
	}
}

func (h *Hosts) liveAt(at place) *stake { return h.live[h.owners[at]][at] }

// replace replaces a live route by another; either may be nil.
func (h *Hosts) replace(settled owner, old, s *stake) {
	if old != nil && s != nil && old.alike(s) {
		old.version, old.ahead = s.version, s.ahead
		return
	}
	var changed []*stake
	if old != nil {
		h.all.remove(old)
		delete(h.owners, old.place)
		delete(h.live[old.owner], old.place)
		put(h.live, old.owner, h.live[old.owner])
		changed = append(changed, old)
	}
	if s != nil {
		if h.live[s.owner] == nil {
			h.live[s.owner] = map[place]*stake{}
		}
		h.live[s.owner][s.place], h.owners[s.place] = s, s.owner
		h.all.add(s)
		changed = append(changed, s)
	}
	h.review(settled, changed...)
}

package hosts

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example/appservice-operator/internal/kube"
)

// precedes reports whether a stake takes precedence over another one, whichever of them is live: if the platform granted it, or if the
// application was ever ready and the other's is known never to have been. Both are permanent, so that a host never goes back and forth.
func (h *Hosts) precedes(s, other *stake) bool {
	if mine := h.entitled(s); mine != h.entitled(other) {
		return mine
	}
	proven, known := h.proven[other.owner]
	return h.proven[s.owner] && known && !proven
}

// turns compares two stakes by the order of their turns.
func (h *Hosts) turns(a, b *stake) int {
	rank := func(s *stake) int {
		rank := 0
		if !h.entitled(s) {
			rank += 2
		}
		if !h.proven[s.owner] {
			rank++
		}
		return rank
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), a.born.compare(b.born))
}

// judge decides whether a wanted route has to wait, and reports whether that is new. A granted route may be about to be written: only
// the reconcile of its own resource gives it up, unless another's route is live.
func (h *Hosts) judge(s *stake, own bool) (news bool) {
	waited, next, keep := s.waits, s.next, s.granted() && !own
	if refused := h.refusal(s); refused != nil && !keep {
		s.waits, s.next = refused, false
		return next || !same(waited, s.waits)
	}
	found := h.obstacle(s, keep)
	s.waits, s.next = h.conflict(s, found), found.next
	for _, other := range found.yielding {
		h.wake(other.owner)
	}
	return next != s.next || !same(waited, s.waits)
}

func same(a, b error) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Error() == b.Error()
}

// obstacle is what a wanted route has to wait for.
type obstacle struct {
	claim Claim
	rival *stake // nil for none
	// yielding are the routes that have to be deleted because of it. If it waits for nothing else, it is next.
	yielding []*stake
	next     bool
}

// obstacle returns what prevents a wanted stake from being granted. Live routes precede others, and of two live ones the older
// route object does, unless one of them takes precedence. A stake that is to be kept gives way only to live ones.
func (h *Hosts) obstacle(s *stake, keep bool) (found obstacle) {
	var yielding obstacle
	for _, claim := range s.claims {
		mine := h.serving(s, claim)
		h.all.rivals(s, claim, h.rules, func(other *stake) {
			blocks := mine == nil && (other.live || other.granted()) || mine != nil && other.live && other.born.compare(mine.born) < 0
			switch {
			case h.precedes(s, other):
				if other.live || other.granted() {
					found.yielding = append(found.yielding, other)
				}
				if blocks {
					yielding.hold(claim, other)
				}
				return
			case h.precedes(other, s):
				blocks = other.live || other.granted() && !keep || other.next && !keep
			}
			if blocks {
				found.hold(claim, other)
			}
		})
		if found.rival != nil {
			found.yielding = nil
			return found
		}
	}
	found.claim, found.rival, found.next = yielding.claim, yielding.rival, yielding.rival != nil
	return found
}

// hold adds an obstructing stake: the oldest one is named.
func (o *obstacle) hold(claim Claim, other *stake) {
	if o.rival == nil || other.born.compare(o.rival.born) < 0 {
		o.claim, o.rival = claim, other
	}
}

// Note records whether the application of a resource was ever ready. Once it was, that is permanent.
func (h *Hosts) Note(kind schema.GroupKind, name types.NamespacedName, ready bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	by := owner{kind, name}
	if before, known := h.proven[by]; known && (before || before == ready) {
		return
	}
	h.proven[by] = ready
	var changed []*stake
	for _, s := range h.wanted[by] {
		changed = append(changed, s)
	}
	for _, s := range h.live[by] {
		changed = append(changed, s)
	}
	h.review(owner{}, changed...)
}

// Yields lists the live routes of a resource that have to be deleted, because another resource that precedes it has the host or waits
// only for it.
func (h *Hosts) Yields(kind schema.GroupKind, name types.NamespacedName) []Held {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []Held
	for at, s := range h.live[owner{kind, name}] {
		var found obstacle
		for _, claim := range s.claims {
			h.all.rivals(s, claim, h.rules, func(other *stake) {
				if other.stands() && h.precedes(other, s) {
					found.hold(claim, other)
				}
			})
		}
		if found.rival != nil {
			list = append(list, Held{at.Key, h.conflict(s, found)})
		}
	}
	slices.SortFunc(list, func(a, b Held) int { return kube.Key.Compare(a.Key, b.Key) })
	return list
}

package hosts

import "errors"

// swap grants the routes of a ring, and reports whether a route that waits is in one: resources of a namespace, each of
// them waiting only for claims that the next one has and no longer requests. They would wait for each other for ever.
func (h *Hosts) swap(s *stake) bool {
	ring := map[*stake]bool{}
	if !h.ring(s, ring) {
		return false
	}
	for one := range ring {
		for _, claim := range one.claims {
			for other := range h.all.rivals(one, claim, h.rules) {
				if ring[other] {
					return false // both cannot have it
				}
			}
		}
	}
	for other := range ring {
		if other.waits = nil; other.owner != s.owner {
			h.wake(other.owner)
		}
	}
	return true
}

// longest is how many routes may be in a ring. It limits what a tenant's chain of claims costs.
const longest = 32

// ring adds a route and those whose owners have to write first, and reports whether these wait for nothing else.
func (h *Hosts) ring(s *stake, with map[*stake]bool) bool {
	conflict := (*ConflictError)(nil)
	if with[s] {
		return true
	}
	if with[s] = true; len(with) > longest || !errors.As(s.waits, &conflict) {
		return false
	}
	for claim, holder := range h.holders(s, h.known[s.owner], nil) {
		if !h.leaves(s, holder, claim) {
			return false
		}
		writes := true
		for _, next := range h.known[holder.owner].wanted {
			if next.waits != nil {
				if writes = false; !h.ring(next, with) {
					return false
				}
			}
		}
		if writes {
			return false // the claim is about to be free
		}
	}
	return true
}

// leaves reports whether the holder of a claim is in the same namespace and no longer requests it.
func (h *Hosts) leaves(s, holder *stake, claim Claim) bool {
	r := h.known[holder.owner]
	if holder.place.namespace != s.place.namespace || r == nil {
		return false
	}
	for _, wanted := range r.wanted {
		if wanted.has(claim) {
			return false
		}
	}
	return r.wanted != nil // otherwise it rests, and what its spec names is not known
}

package hosts

import "errors"

// grantCycle grants the routes of a cycle, and reports whether a route that waits is in one: resources of a namespace,
// each waiting only for paths that the next one has and no longer requests. They would wait for each other for ever.
func (h *Hosts) grantCycle(c *candidate) bool {
	cycle := map[*candidate]bool{}
	if !h.addWaiting(c, cycle) {
		return false
	}
	for one := range cycle {
		for _, path := range one.paths {
			for other := range h.all.rivals(one, path, h.rules) {
				if cycle[other] {
					return false // both cannot have it
				}
			}
		}
	}
	for other := range cycle {
		if other.waits = nil; other.owner != c.owner {
			h.wake(other.owner)
		}
	}
	return true
}

// maxCycle is how many routes may be in a cycle. It limits what a tenant's chain of paths costs.
const maxCycle = 32

// addWaiting adds a route and those whose owners have to write first, and reports whether these wait for nothing else.
func (h *Hosts) addWaiting(c *candidate, with map[*candidate]bool) bool {
	conflict := (*ConflictError)(nil)
	if with[c] {
		return true
	}
	if with[c] = true; len(with) > maxCycle || !errors.As(c.waits, &conflict) {
		return false
	}
	for path, holder := range h.holders(c, h.known[c.owner], nil) {
		if !h.leaves(c, holder, path) {
			return false
		}
		writes := true
		for _, next := range h.known[holder.owner].requested {
			if next.waits != nil {
				if writes = false; !h.addWaiting(next, with) {
					return false
				}
			}
		}
		if writes {
			return false // the path is about to be free
		}
	}
	return true
}

// leaves reports whether the holder of a path is in the same namespace and no longer requests it.
func (h *Hosts) leaves(c, holder *candidate, path RoutePath) bool {
	r := h.known[holder.owner]
	if holder.route.namespace != c.route.namespace || r == nil {
		return false
	}
	for _, requested := range r.requested {
		if requested.has(path) {
			return false
		}
	}
	return r.requested != nil // otherwise it rests, and what its spec names is not known
}

package hosts

// Rules are what the platform says of hosts, for each namespace.
type Rules interface {
	// Refused returns why routes of a namespace may not claim a host, which may be a wildcard, or empty for all of a gateway; nil if
	// they may.
	Refused(namespace string, claim Claim) error
	// Granted reports whether the platform named a host for a namespace, which then has it before anybody else.
	Granted(namespace, host string) bool
	// Shared reports whether routes of a namespace may share a host with those of others for which that is also so.
	Shared(namespace, host string) bool
}

// free are rules that allow everything, and grant and share nothing.
type free struct{}

func (free) Refused(string, Claim) error { return nil }
func (free) Granted(string, string) bool { return false }
func (free) Shared(string, string) bool  { return false }

// Rule puts other rules in the place of those before. Resources for which that makes a difference are reconciled.
func (h *Hosts) Rule(rules Rules) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rules = rules
	var all []*stake
	for _, of := range h.live {
		for _, s := range of {
			all = append(all, h.under(s))
		}
	}
	for _, of := range h.wanted {
		for _, s := range of {
			all = append(all, h.under(s))
		}
	}
	h.review(owner{}, all...)
}

// renew notes what the rules say of the live routes of a resource now: they may depend on the labels of its namespace.
func (h *Hosts) renew(by owner) {
	var changed []*stake
	for _, s := range h.live[by] {
		if before := s.entitled; h.under(s).entitled != before {
			changed = append(changed, s)
		}
	}
	h.review(by, changed...)
}

// under notes what the rules say of a stake, and returns it.
func (h *Hosts) under(s *stake) *stake {
	s.entitled, s.refused = len(s.claims) > 0, nil
	for _, claim := range s.claims {
		s.entitled = s.entitled && h.rules.Granted(s.place.namespace, claim.Host)
		if s.refused == nil && !s.live {
			s.refused = h.rules.Refused(s.place.namespace, claim)
		}
	}
	return s
}

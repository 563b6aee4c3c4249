package hosts

import "github.com/example/appservice-operator/internal/kube"

// Rules are what the platform says of hosts, for each namespace, at any time.
type Rules interface {
	// Refused returns why a route of a namespace may not claim a host, which may be a wildcard, or empty for all of an entry; nil if it
	// may.
	Refused(namespace string, route kube.Key, claim Claim) error
	// Granted reports whether the platform granted a host to a namespace, which then has it before any other.
	Granted(namespace, host string) bool
	// Shared reports whether routes of a namespace may have paths of a host of which others have some, if that is so for these, too.
	Shared(namespace, host string) bool
}

// Free are rules that allow everything, and grant and share nothing.
type Free struct{}

// Refused implements Rules.
func (Free) Refused(string, kube.Key, Claim) error { return nil }

// Granted implements Rules.
func (Free) Granted(string, string) bool { return false }

// Shared implements Rules.
func (Free) Shared(string, string) bool { return false }

// entitled reports whether the platform granted all that a stake claims.
func (h *Hosts) entitled(s *stake) bool {
	for _, claim := range s.claims {
		if !h.rules.Granted(s.place.namespace, claim.Host) {
			return false
		}
	}
	return len(s.claims) > 0
}

// refusal is why the platform does not allow what a stake claims; nil if it does.
func (h *Hosts) refusal(s *stake) error {
	for _, claim := range s.claims {
		if err := h.rules.Refused(s.place.namespace, s.place.Key, claim); err != nil {
			return err
		}
	}
	return nil
}

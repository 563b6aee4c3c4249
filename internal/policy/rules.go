package policy

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Rules are those of a namespace. The zero value allows everything: it is for a cluster of which nothing is known, as on the command line.
type Rules struct{ *rules }

// MayUse reports whether the namespace may use all hosts that one of a route stands for, the empty one for all there are. Why says what is
// against it.
func (r Rules) MayUse(host string) (may bool, why string) {
	host = strings.ToLower(host)
	switch by := r.grantedElsewhere(host); {
	case r.Grants(host), r.rules == nil:
	case (host == "" || strings.HasPrefix(host, "*.")) && !*r.WildcardHosts:
		return false, r.why("wildcardHosts", "allows neither wildcards nor all hosts")
	case r.named.allow(host):
	case by != "":
		return false, "it is granted to others by " + by
	case !r.general.allow(host):
		return false, r.why("hosts", "allows "+shown(slices.Concat(r.general, r.named)))
	}
	return true, ""
}

// Grants reports whether a host is granted to the namespace: an entry names it, and not only by *.
func (r Rules) Grants(host string) bool {
	return r.rules != nil && last(r.named, strings.ToLower(host), namedBy, overlaps)
}

// Shares reports whether the namespace may serve paths of a host of which others serve some, too.
func (r Rules) Shares(host string) bool { return r.rules != nil && r.SharedHosts.allow(host) }

// grantedElsewhere is the place of an entry that grants some of the hosts to other namespaces alone; empty if there is none.
func (r Rules) grantedElsewhere(host string) string {
	if r.rules == nil {
		return ""
	}
	for _, grant := range r.elsewhere {
		for _, pattern := range grant.hosts {
			if !strings.HasPrefix(pattern, refuses) && pattern != everything && overlaps(pattern, host) {
				return grant.place
			}
		}
	}
	return ""
}

// why says what a rule allows, and where it stands.
func (r *rules) why(rule, allows string) string {
	return fmt.Sprintf("%s %s (%s)", rule, allows, r.places[rule])
}

func namedBy(pattern, host string) bool { return pattern != everything && covers(pattern, host) }

// Current holds the policy that is in use. It is safe for concurrent use.
type Current struct{ policy atomic.Pointer[Policy] }

// NewCurrent returns a holder of a policy.
func NewCurrent(policy *Policy) *Current {
	c := &Current{}
	c.Set(policy)
	return c
}

// Get returns the policy in use; nil if there is no holder.
func (c *Current) Get() *Policy {
	if c == nil {
		return nil
	}
	return c.policy.Load()
}

// Set puts another policy to use.
func (c *Current) Set(policy *Policy) { c.policy.Store(policy) }

package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Rules are the rules of a namespace. The zero value allows everything: it is for an unknown cluster, as on the command
// line.
type Rules struct{ *rules }

// MayUse reports whether the namespace may use all hosts that a route's host stands for, the empty one for all hosts,
// and why if it may not.
func (r Rules) MayUse(host string) (may bool, why Refusal) {
	host = strings.ToLower(host)
	allow := missing(cmp.Or(host, everything))
	switch by := r.grantedElsewhere(host); {
	case r.Grants(host), r.rules == nil:
	case (host == "" || strings.HasPrefix(host, "*.")) && !*r.WildcardHosts:
		return false, r.refusal("wildcardHosts", "allows neither wildcards nor all hosts", true)
	case r.named.allow(host):
	case by != "":
		return false, Refusal{Rule: "hosts", Why: "granted to other namespaces by " + by + r.built(by), Allow: allow}
	case !r.general.allow(host):
		return false, r.refusal("hosts", "allows "+shown(slices.Concat(r.general, r.named)), allow)
	}
	return true, Refusal{}
}

// Grants reports whether a host is granted to the namespace: an entry names it, and not only by *.
func (r Rules) Grants(host string) bool {
	return r.rules != nil && last(r.named, strings.ToLower(host), namedBy, overlaps)
}

// Shares reports whether the namespace may share a host, by paths, with others.
func (r Rules) Shares(host string) bool { return r.rules != nil && r.SharedHosts.allow(host) }

// Below reports whether the namespace may use a host below a wildcard that a route of others has in another namespace,
// and whether the rule names the host, not only by *.
func (r Rules) Below(host string) (may, named bool) {
	if r.rules == nil {
		return true, true
	}
	return r.BelowWildcards.allow(host), last(r.BelowWildcards, strings.ToLower(host), namedBy, overlaps)
}

// grantedElsewhere returns the place of an entry that grants some of the hosts to other namespaces only; empty if there
// is none.
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

// refusal returns what a rule allows, where that is set, and what would allow more.
func (r *rules) refusal(rule, allows string, allow any) Refusal {
	place := r.places[rule]
	return Refusal{Rule: rule, Why: fmt.Sprintf("%s %s (%s%s)", rule, allows, place, r.built(place)), Allow: allow}
}

// built names the built-in policy beneath a place that does not.
func (r *rules) built(place string) string {
	if place == r.policy.BuiltIn.String() {
		return ""
	}
	return ", over the " + r.policy.BuiltIn.String()
}

func namedBy(pattern, host string) bool { return pattern != everything && covers(pattern, host) }

// Current holds the policy in use. It is safe for concurrent use.
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

// Set replaces the policy in use.
func (c *Current) Set(policy *Policy) { c.policy.Store(policy) }

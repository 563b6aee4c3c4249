package policy

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Hosts are hosts: one by its name, all below a domain, at any depth, as *.example.com, or all as *.
type Hosts []string

// allow reports whether all hosts that a route's host stands for may be used.
func (h Hosts) allow(host string) bool { return last(h, strings.ToLower(host), covers, overlaps) }

func (h Hosts) check(item string) error {
	host := strings.TrimPrefix(item, refuses)
	if host == everything {
		return nil
	}
	if len(validation.IsDNS1123Subdomain(strings.TrimPrefix(host, "*."))) > 0 {
		return fmt.Errorf("%q is not a host: write a name such as shop.example.com, *.example.com for all below a domain, or * for all", item)
	}
	return nil
}

// covers reports whether a pattern covers all hosts that a route's host stands for. The empty one stands for all.
func covers(pattern, host string) bool {
	domain, wildcard := strings.CutPrefix(pattern, "*.")
	return pattern == everything || pattern == host || wildcard && strings.HasSuffix(host, "."+domain)
}

// overlaps reports whether a pattern covers some of them.
func overlaps(pattern, host string) bool {
	return host == "" || covers(pattern, host) || strings.HasPrefix(host, "*.") && covers(host, pattern)
}

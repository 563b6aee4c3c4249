package gateway

import (
	"cmp"
	"fmt"
	"slices"
)

// Address is where requests for a host of a route come in.
type Address struct {
	Scheme string
	// Host may be a wildcard.
	Host string
	Port int64
}

// String returns a URL without a path. The port is left out if the scheme implies it.
func (a Address) String() string {
	if a.Scheme == "http" && a.Port == 80 || a.Scheme == "https" && a.Port == 443 {
		return a.Scheme + "://" + a.Host
	}
	return fmt.Sprintf("%s://%s:%d", a.Scheme, a.Host, a.Port)
}

// Addresses lists where an HTTPRoute or a GRPCRoute answers, those with TLS first. A parent that refuses it has no
// addresses, and neither does a Gateway that does not exist; if the listeners of one are not known, plain HTTP is
// assumed, and HTTPS of a ListenerSet, which brings certificates.
func (r *Route) Addresses(gateways Gateways) []Address {
	var list []Address
	for _, parent := range r.Parents() {
		// Services of a mesh have addresses of their own
		if mesh := parent.Group == ""; mesh || parent.refused() || gateways.Missing(parent.Ref) {
			continue
		}
		for _, listener := range listenersOf(parent.Ref, gateways) {
			if !listener.takes(r, parent.Ref) {
				continue
			}
			for _, address := range listener.addresses(r.Spec.Hostnames) {
				if !slices.Contains(list, address) {
					list = append(list, address)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Address) int { return cmp.Compare(b.Scheme, a.Scheme) })
	return list
}

// listenersOf returns the listeners of a parent. If they are not known, it assumes a matching one.
func listenersOf(ref Ref, gateways Gateways) []Listener {
	if known := gateways[ref.NamespacedName]; known != nil && ref.IsGateway() {
		return known.Listeners
	}
	assumed := Listener{Name: ref.SectionName, Protocol: "HTTP", Port: cmp.Or(ref.Port, 80)}
	if ref.IsListenerSet() {
		assumed.Port = cmp.Or(ref.Port, 443)
	}
	if assumed.Port == 443 {
		assumed.Protocol = "HTTPS"
	}
	assumed.Allowed.Namespaces.From = "All"
	return []Listener{assumed}
}

func (l Listener) addresses(hostnames []string) []Address {
	if len(hostnames) == 0 {
		hostnames = []string{""}
	}
	var list []Address
	for _, hostname := range hostnames {
		if host, common := meet(l.Hostname, hostname); common && host != "" {
			list = append(list, Address{Scheme: schemes[l.Protocol], Host: host, Port: l.Port})
		}
	}
	return list
}

package hosts

import "github.com/example/appservice-operator/internal/engine/kube"

// Rules are the platform's rules about hosts, for each namespace; they may change at any time.
type Rules interface {
	// Refused returns why a route of a namespace may not use a host, which may be a wildcard, or empty for all of an
	// entry; nil if it may.
	Refused(namespace string, route kube.Key, path RoutePath) error
	// Granted reports whether the platform granted a host to a namespace, which then takes precedence over any other.
	Granted(namespace, host string) bool
	// Shared reports whether routes of a namespace may share a host with those of other namespaces for which that is true,
	// too.
	Shared(namespace, host string) bool
	// Below reports whether a namespace may newly use a host below a wildcard that a route of others has in another
	// namespace, and whether the platform named the host for that, so that nobody has to be warned.
	Below(namespace, host string) (may, named bool)
}

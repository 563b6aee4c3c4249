package gateway

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Gateway holds the fields of a Gateway that determine the addresses of routes.
type Gateway struct {
	Listeners []Listener `json:"listeners"`
}

// Gateways are the known Gateways: nil for one that does not exist.
type Gateways map[types.NamespacedName]*Gateway

// Missing reports whether a parent is a Gateway that is known not to exist.
func (g Gateways) Missing(ref Ref) bool {
	gateway, known := g[ref.NamespacedName]
	return ref.IsGateway() && known && gateway == nil
}

// Listener is where a Gateway accepts requests.
type Listener struct {
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	Port     int64  `json:"port"`
	Hostname string `json:"hostname"`
	Allowed  struct {
		Namespaces struct {
			From string `json:"from"`
		} `json:"namespaces"`
		Kinds []RouteKind `json:"kinds"`
	} `json:"allowedRoutes"`
}

// RouteKind is a kind of routes; the group is the Gateway API's as a rule.
type RouteKind struct {
	Kind string `json:"kind"`
}

// Of reads a Gateway; nil if the object is none.
func Of(object client.Object) *Gateway {
	read := kube.As[struct {
		Spec Gateway `json:"spec"`
	}](object)
	if read == nil {
		return nil
	}
	return &read.Spec
}

// schemes are the URL schemes by the protocol of listeners that HTTPRoutes attach to.
var schemes = map[string]string{"HTTP": "http", "HTTPS": "https"}

// takes reports whether an HTTPRoute attaches to a listener that its parent names. Whether a namespace selector matches
// is not known here: it is assumed to.
func (l Listener) takes(route *Route, ref Ref) bool {
	switch {
	case ref.SectionName != "" && ref.SectionName != l.Name, ref.Port != 0 && ref.Port != l.Port:
		return false
	case schemes[l.Protocol] == "":
		return false
	case len(l.Allowed.Kinds) > 0 && !slices.Contains(l.Allowed.Kinds, RouteKind{route.Kind}):
		return false
	}
	switch l.Allowed.Namespaces.From {
	case "All", "Selector":
		return true
	case "None":
		return false
	}
	return ref.Namespace == route.Metadata.Namespace
}

// meet returns the hosts that a listener and a route have in common: of a wildcard and what it covers, the narrower. An
// empty host stands for all; false if there is none.
func meet(listener, route string) (string, bool) {
	listener, route = strings.ToLower(listener), strings.ToLower(route)
	switch {
	case listener == "" || Covers(listener, route):
		return route, true
	case route == "" || route == listener || Covers(route, listener):
		return listener, true
	}
	return "", false
}

// Covers reports whether a wildcard covers a host or a wildcard that is no wider. It may stand for several labels, as
// with most Ingress controllers, too.
func Covers(wildcard, host string) bool {
	domain, found := strings.CutPrefix(wildcard, "*")
	return found && strings.HasSuffix(host, domain)
}

package hosts

import (
	"cmp"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
)

// RoutePath is a path of a host that a route answers: host, gateway and path, compared with ==.
type RoutePath struct {
	// Host is a name, a wildcard such as *.example.com, or empty for all hosts of the entry.
	Host string
	// Entry is where requests come in. It matters only between paths without a host: DNS has one answer for a name.
	Entry Entry
	Path  Path
}

// Entry is a gateway, or all Ingress controllers of a class.
type Entry struct {
	Kind string // of a gateway as a rule; Ingress for a class
	Name string // with the namespace of a gateway; an empty class may be any
}

// Path says which paths match. The zero value matches none: it is for a host without known paths.
type Path struct {
	Match Match
	Text  string // without the last slash of a prefix, unless it is /; a pattern is unchanged
}

// Match is how a path is matched.
type Match string

// The ways to match a path. A pattern is a regular expression, or whatever an Ingress controller treats it as.
const (
	Exact   Match = "Exact"
	Prefix  Match = "Prefix"
	Pattern Match = "Pattern"
)

const everything = "/"

// The kinds of routes.
var (
	ingressKind = schema.GroupKind{Group: networkingv1.GroupName, Kind: "Ingress"}
	httpKind    = schema.GroupKind{Group: gateway.Group, Kind: "HTTPRoute"}
	grpcKind    = schema.GroupKind{Group: gateway.Group, Kind: "GRPCRoute"}
	routeKinds  = []schema.GroupKind{ingressKind, httpKind, grpcKind}
)

// RoutePathsOf lists the paths of a rendered or live route, each once. Defaults of the API server make no difference.
func RoutePathsOf(o *unstructured.Unstructured) []RoutePath { return routePathsOf(o, math.MaxInt) }

// routePathsOf lists the paths of a route. A route with more combinations than most gets all paths of its hosts: no
// resource may render such a route, so another writer created it.
func routePathsOf(object client.Object, most int) []RoutePath {
	var list []RoutePath
	switch kube.KeyOf(object).GroupKind {
	case ingressKind:
		if list = distinct(pathsOfIngress(kube.As[networkingv1.Ingress](object))); len(list) > most {
			for i := range list {
				list[i].Path = pathOf(Prefix, everything)
			}
		}
	case httpKind, grpcKind:
		list = pathsOfRoute(kube.As[gatewayRoute](object), most)
	case gateway.ListenerSetKind:
		list = pathsOfListeners(gateway.ListenerSetOf(object))
	}
	return distinct(list)
}

// distinct sorts paths and removes duplicates.
func distinct(paths []RoutePath) []RoutePath {
	slices.SortFunc(paths, RoutePath.compare)
	return slices.Compact(paths)
}

// legacyClass is the annotation that named the class of an Ingress before there was a field for it.
const legacyClass = "kubernetes.io/ingress.class"

func pathsOfIngress(ingress *networkingv1.Ingress) []RoutePath {
	if ingress == nil {
		return nil
	}
	entry := Entry{Kind: ingressKind.Kind,
		Name: ptr.Deref(ingress.Spec.IngressClassName, ingress.Annotations[legacyClass])}
	var list []RoutePath
	// without it and without rules, it is an identity of the caches: the API server accepts no such Ingress
	if ingress.Spec.DefaultBackend != nil {
		list = append(list, RoutePath{Entry: entry, Path: pathOf(Prefix, everything)})
	}
	for _, rule := range ingress.Spec.Rules {
		path := RoutePath{Host: strings.ToLower(rule.Host), Entry: entry, Path: pathOf(Prefix, everything)}
		if rule.HTTP == nil {
			list = append(list, path) // goes to the default backend
			continue
		}
		for _, part := range rule.HTTP.Paths {
			path.Path = pathOf(ingressMatch(part), part.Path)
			list = append(list, path)
		}
	}
	return list
}

// ingressMatch returns how a path is matched. Its type is required; ImplementationSpecific may be a regular expression,
// and a path of any type is one where a route of the host has an annotation for that, as for ingress-nginx.
func ingressMatch(path networkingv1.HTTPIngressPath) Match {
	of := ptr.Deref(path.PathType, networkingv1.PathTypeImplementationSpecific)
	if of == networkingv1.PathTypeImplementationSpecific || strings.ContainsAny(path.Path, `[](){}*?|^$\`) {
		return Pattern
	}
	return Match(of)
}

// gatewayRoute holds the fields of an HTTPRoute or a GRPCRoute that decide which hosts and paths it answers.
type gatewayRoute struct {
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		ParentRefs []struct {
			Kind      string `json:"kind"`
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"parentRefs"`
		Hostnames []string `json:"hostnames"`
		Rules     []struct {
			Matches []routeMatch `json:"matches"`
		} `json:"rules"`
	} `json:"spec"`
}

type routeMatch struct {
	Path   typed `json:"path"`
	Method any   `json:"method"` // a word of an HTTPRoute, an object of a GRPCRoute
}

type typed struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// pathsOfRoute returns the product of gateways, hosts and paths. A route without a gateway answers nothing. One with
// more combinations than most gets all paths of its hosts: otherwise a few bytes may make tens of thousands of them.
func pathsOfRoute(route *gatewayRoute, most int) []RoutePath {
	if route == nil {
		return nil
	}
	hosts := route.Spec.Hostnames
	if len(hosts) == 0 {
		hosts = []string{""}
	}
	var paths []Path
	for _, rule := range route.Spec.Rules {
		for _, match := range rule.Matches {
			paths = append(paths, match.path())
		}
		if len(rule.Matches) == 0 {
			paths = append(paths, pathOf(Prefix, everything))
		}
	}
	if len(paths) == 0 || len(route.Spec.ParentRefs)*len(hosts)*len(paths) > most {
		paths = []Path{pathOf(Prefix, everything)}
	}
	var list []RoutePath
	for _, parent := range route.Spec.ParentRefs {
		entry := Entry{
			Kind: cmp.Or(parent.Kind, "Gateway"),
			Name: cmp.Or(parent.Namespace, route.Metadata.Namespace) + "/" + parent.Name,
		}
		for _, host := range hosts {
			for _, path := range paths {
				list = append(list, RoutePath{Host: strings.ToLower(host), Entry: entry, Path: path})
			}
		}
	}
	return list
}

// pathsOfListeners returns the hosts of added listeners, without paths: routes answer these. A rendered set waits for
// its hosts like a route, since a certificate would be issued for it; live sets of others answer nothing.
func pathsOfListeners(set *gateway.ListenerSet) []RoutePath {
	if set == nil {
		return nil
	}
	parent := set.Parent()
	var list []RoutePath
	for _, listener := range set.Spec.Listeners {
		list = append(list, RoutePath{Host: strings.ToLower(listener.Hostname),
			Entry: Entry{Kind: parent.Kind, Name: parent.String()}})
	}
	return list
}

// path returns the path of a match. A gRPC method is the path /service/method.
func (m routeMatch) path() Path {
	if method, ok := m.Method.(map[string]any); ok {
		service, _ := method["service"].(string)
		name, _ := method["method"].(string)
		switch {
		case method["type"] == "RegularExpression" || service == "" && name != "":
			return pathOf(Pattern, "/"+cmp.Or(service, ".*")+"/"+name)
		case name == "":
			return pathOf(Prefix, "/"+service)
		}
		return pathOf(Exact, "/"+service+"/"+name)
	}
	switch m.Path.Type {
	case "Exact":
		return pathOf(Exact, m.Path.Value)
	case "", "PathPrefix":
		return pathOf(Prefix, m.Path.Value)
	}
	return pathOf(Pattern, m.Path.Value)
}

// pathOf returns the normalized path of a text. Proxies treat some spellings of a path as the same.
func pathOf(match Match, text string) Path {
	if match != Pattern {
		text = plain(text)
	}
	if match == Prefix {
		text = strings.TrimRight(text, "/")
	}
	return Path{Match: match, Text: cmp.Or(text, everything)}
}

// plain returns a path without percent encoding and without redundant elements. A slash at the end stays.
func plain(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	if text == "" {
		return ""
	}
	clean := path.Clean("/" + text)
	if strings.HasSuffix(text, "/") && clean != everything {
		clean += "/"
	}
	return clean
}

// same reports whether two route paths match the same requests, so that it is undefined which of them answers.
func (p RoutePath) same(other RoutePath) bool {
	return p.Host == other.Host && (p.Host != "" || p.Entry.overlaps(other.Entry)) &&
		p.Path.Text == other.Path.Text && (p.Path.Match == Exact) == (other.Path.Match == Exact)
}

// hostsOverlap reports whether there is a host that both are for. A route for all hosts of an entry answers only
// requests that no other does, so it is a rival only of another such route.
func (p RoutePath) hostsOverlap(other RoutePath) bool {
	if p.Host == "" || other.Host == "" {
		return p.Host == other.Host && p.Entry.overlaps(other.Entry)
	}
	return p.Host == other.Host || gateway.Covers(p.Host, other.Host) || gateway.Covers(other.Host, p.Host)
}

func (e Entry) overlaps(other Entry) bool {
	return e.Kind == other.Kind &&
		(e.Name == other.Name || e.Kind == ingressKind.Kind && (e.Name == "" || other.Name == ""))
}

// overlaps reports whether one path begins with the other.
func (p Path) overlaps(other Path) bool {
	if p.Text == "" || other.Text == "" {
		return false
	}
	a, b := p.begin(), other.begin()
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// begin returns what all matching paths begin with, with a slash after the last element unless the path is a pattern.
// It is in lower case, as some controllers ignore case in patterns.
func (p Path) begin() string {
	text := strings.ToLower(p.Text)
	if p.Match != Pattern {
		return strings.TrimRight(text, "/") + "/"
	}
	if text = strings.TrimPrefix(text, "^"); !strings.HasPrefix(text, "/") {
		return "" // it may match anywhere in a path
	}
	if special := strings.IndexAny(text, `\^$.*+?()[]{}|`); special >= 0 {
		text = text[:strings.LastIndex(text[:special], "/")+1]
	}
	return strings.TrimRight(text, "/")
}

func (p RoutePath) compare(other RoutePath) int {
	return cmp.Or(
		cmp.Compare(p.Host, other.Host), cmp.Compare(p.Path.Text, other.Path.Text),
		cmp.Compare(p.Path.Match, other.Path.Match),
		cmp.Compare(p.Entry.Kind, other.Entry.Kind), cmp.Compare(p.Entry.Name, other.Entry.Name),
	)
}

// HostOrAll returns the host, or a description of all of them, for example any host of Gateway infra/public.
func (p RoutePath) HostOrAll() string {
	if p.Host != "" {
		return p.Host
	}
	return strings.TrimSpace("any host of " + p.Entry.Kind + " " + p.Entry.Name)
}

// String returns the host and path for people, for example www.example.com/shop.
func (p RoutePath) String() string {
	host := p.HostOrAll()
	if p.Host == "" {
		host += " under "
	}
	return host + "/" + strings.Trim(p.Path.Text, "/")
}

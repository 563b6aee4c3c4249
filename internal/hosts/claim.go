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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// Claim is a set of requests that a route answers. Claims are compared with ==.
type Claim struct {
	// Host is a name, a wildcard such as *.example.com, or empty for all hosts of the entry.
	Host string
	// Entry is where requests come in. It does not matter between claims with a host: DNS has one answer for a name.
	Entry Entry
	Path  Path
	// Method is empty for all methods.
	Method string
	// Conditions are further conditions of a request, one a line; empty for none. See conditions.
	Conditions string
}

// Entry is a gateway or one of its listeners, or all Ingress controllers of a class.
type Entry struct {
	Kind string // of a gateway as a rule; Ingress for a class
	Name string // with the namespace of a gateway; an empty class may be any
	// Listener is the name and the port of the listener; empty for all.
	Listener string
	Port     int64
}

// Path says which paths match.
type Path struct {
	Match Match
	Text  string // literal, and for a prefix without the last slash, unless it is /; a pattern is unchanged
	start string // common beginning of all paths that match a pattern
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

// The kinds whose objects make claims.
var (
	ingressKind = schema.GroupKind{Group: networkingv1.GroupName, Kind: "Ingress"}
	routeKind   = schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}
)

// Routes reports whether objects of a kind make claims.
func Routes(kind schema.GroupKind) bool { return kind == ingressKind || kind == routeKind }

// ClaimsOf lists what a rendered or live object claims, each once. Defaults set by the API server make no difference.
func ClaimsOf(object *unstructured.Unstructured) []Claim { return claimsOf(object, math.MaxInt) }

// claimsOf lists what a route claims. A route with more combinations than most claims its hosts as a whole, and only the first of more hosts than
// that: no resource may render such a route, so another writer created it.
func claimsOf(object client.Object, most int) []Claim {
	var list []Claim
	switch kube.KeyOf(object).GroupKind {
	case ingressKind:
		if list = distinct(ingressClaims(kube.As[networkingv1.Ingress](object))); len(list) > most {
			for i := range list {
				list[i].Path = pathOf(Prefix, everything)
			}
		}
	case routeKind:
		list = routeClaims(kube.As[httpRoute](object), most)
	}
	if list = distinct(list); len(list) > most {
		return slices.Clone(list[:most]) // the rest must not stay in memory
	}
	return list
}

// distinct sorts claims and removes duplicates.
func distinct(claims []Claim) []Claim {
	slices.SortFunc(claims, Claim.compare)
	return slices.Compact(claims)
}

// legacyClass is the annotation that named the class of an Ingress before there was a field for it.
const legacyClass = "kubernetes.io/ingress.class"

func ingressClaims(ingress *networkingv1.Ingress) []Claim {
	if ingress == nil {
		return nil
	}
	entry := Entry{Kind: ingressKind.Kind, Name: ingress.Annotations[legacyClass]}
	if ingress.Spec.IngressClassName != nil {
		entry.Name = *ingress.Spec.IngressClassName
	}
	var list []Claim
	if ingress.Spec.DefaultBackend != nil { // without it and without rules, it is an identity of the caches: the API server accepts no such Ingress
		list = append(list, Claim{Entry: entry, Path: pathOf(Prefix, everything)})
	}
	for _, rule := range ingress.Spec.Rules {
		claim := Claim{Host: strings.ToLower(rule.Host), Entry: entry, Path: pathOf(Prefix, everything)}
		if rule.HTTP == nil {
			list = append(list, claim) // goes to the default backend
			continue
		}
		for _, part := range rule.HTTP.Paths {
			match := Pattern // the type is required; ImplementationSpecific may be a regular expression
			if part.PathType != nil && *part.PathType != networkingv1.PathTypeImplementationSpecific {
				match = Match(*part.PathType)
			}
			claim.Path = pathOf(match, part.Path)
			list = append(list, claim)
		}
	}
	return list
}

// pathOf returns the normalized path of a text. Proxies treat some spellings of a path as the same.
func pathOf(match Match, text string) Path {
	if match != Pattern {
		text = plain(text)
	}
	if match == Prefix {
		text = strings.TrimRight(text, "/")
	}
	if text == "" {
		text = everything
	}
	out := Path{Match: match, Text: text}
	if match == Pattern {
		out.start = literalStart(text)
	}
	return out
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

func (c Claim) compare(other Claim) int {
	return cmp.Or(
		cmp.Compare(c.Host, other.Host), cmp.Compare(c.Path.Text, other.Path.Text), cmp.Compare(c.Path.Match, other.Path.Match),
		cmp.Compare(c.Method, other.Method), cmp.Compare(c.Conditions, other.Conditions),
		cmp.Compare(c.Entry.Kind, other.Entry.Kind), cmp.Compare(c.Entry.Name, other.Entry.Name),
		cmp.Compare(c.Entry.Listener, other.Entry.Listener), cmp.Compare(c.Entry.Port, other.Entry.Port),
	)
}

// HostOrAll returns the host, or a description of all of them, for example any host of Gateway infra/public.
func (c Claim) HostOrAll() string {
	if c.Host != "" {
		return c.Host
	}
	return strings.TrimSpace("any host of " + c.Entry.Kind + " " + c.Entry.Name)
}

// String returns the claim for people, for example www.example.com/shop or GET www.example.com/.
func (c Claim) String() string {
	host := c.HostOrAll()
	if c.Host == "" {
		host += " under "
	}
	text := host + "/" + strings.Trim(c.Path.Text, "/")
	if c.Method != "" {
		text = c.Method + " " + text
	}
	if c.Conditions != "" {
		text += " with " + strings.ReplaceAll(c.Conditions, "\n", ", ")
	}
	return text
}

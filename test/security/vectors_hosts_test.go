//go:build cluster

package security

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

const (
	// onePerNamespace is the guard of hosts that are served already.
	onePerNamespace = "a host belongs to one namespace"
	// overlapping is why some of them have no switch.
	overlapping = "also where the platform shares a host, requests that somebody answers are nobody else's"
)

// Requests to a host that another tenant serves.
var _ = register(vectors{
	"another path of a host of somebody else":  taken(`{host: HOST, paths: [{path: /app}]}`, `{host: HOST, paths: [{path: /shop}]}`, ""),
	"a longer path of a host of somebody else": taken(`{host: HOST}`, `{host: HOST, paths: [{path: /login}]}`, overlapping),
	"all paths beside one of somebody else":    taken(`{host: HOST, paths: [{path: /app}]}`, `{host: HOST}`, overlapping),
	"a path of somebody else in percent encoding": taken(
		`{host: HOST, paths: [{path: /app}]}`, `{host: HOST, paths: [{path: "/%61pp", pathType: Exact}]}`, overlapping),
	"a regular expression over a path of somebody else": taken(
		`{host: HOST, paths: [{path: /app}]}`, `{host: HOST, paths: [{path: "/.*", pathType: ImplementationSpecific}]}`, overlapping),
	"a path that is an expression over one of somebody else, on a host of both": {
		prepare: func(s *scene) { s.serves(`{host: shop.VICTIM.example.com, paths: [{path: /app}]}`) },
		does: applies(`{ports: [{port: 80}], ingress: {annotations: {nginx.ingress.kubernetes.io/use-regex: "true"},
			hosts: [{host: shop.VICTIM.example.com, paths: [{path: "/[a-z]pp"}]}]}}`),
		harm:  func(s *scene) error { return has(s, s.namespace) },
		guard: "a path that a controller may take for an expression overlaps with all", label: sharesHosts, reason: v1.ReasonHostConflict,
		words: []string{"/[a-z]pp"}, fixed: "the rule holds on all hosts that are shared", shared: true,
	},
	"an exact path beside one of somebody else": taken(
		`{host: HOST, paths: [{path: /app, pathType: Exact}]}`, `{host: HOST, paths: [{path: /app/x, pathType: Exact}]}`, overlapping),
	"a host below a wildcard of somebody else": taken(`{host: "*.VICTIM.example.com"}`, `{host: HOST}`, overlapping),
	"a host below a wildcard of an Ingress that the operator did not make": {
		prepare: func(s *scene) {
			cluster.Create(s.T, s.plainIngress(s.victim, s.words("*.VICTIM.example.com")))
		},
		does:  applies(`{ports: [{port: 80}], ingress: {hosts: [{host: shop.VICTIM.example.com}]}}`),
		harm:  func(s *scene) error { return has(s, s.namespace) },
		guard: "belowWildcards of the policy", shared: true, label: closedWildcards, reason: v1.ReasonHostConflict,
		words: []string{"is below a wildcard of a route in another namespace"},
	},
	"a wildcard over a host of somebody else": wildcard(`{host: "*.VICTIM.example.com", paths: [{path: /shop}]}`),
	"a wildcard of nobody":                    wildcard(`{host: "*.NAMESPACE.example.org"}`),
	"a path of the host of an Ingress that the operator did not make": {
		prepare: func(s *scene) {
			cluster.Create(s.T, s.plainIngress(s.victim, s.words("shop.VICTIM.example.com")))
		},
		does:  applies(`{ports: [{port: 80}], ingress: {hosts: [{host: shop.VICTIM.example.com, paths: [{path: /login}]}]}}`),
		harm:  func(s *scene) error { return has(s, s.namespace) },
		guard: onePerNamespace, fixed: overlapping, reason: v1.ReasonHostConflict, words: []string{"only one namespace may use a host"},
	},
	"an own Ingress beside a host of somebody else, whose own is made again": {
		may:     writesIngresses,
		prepare: func(s *scene) { s.serves(`{host: shop.VICTIM.example.com}`) },
		does: func(s *scene) error {
			return s.tenant.Create(s.Context(), s.plainIngress(s.namespace, s.words("shop.VICTIM.example.com")))
		},
		seen: servedAgain, harm: withoutHost,
		guard: "who has served a host longest keeps it", fixed: "an AppService serves since the time in its status, whatever the policy says",
	},
})

// has returns nil once an Ingress exists in a namespace.
func has(s *scene, namespace string) error {
	return of(s, namespace, "app", anything[*networkingv1.Ingress])
}

// serves has an AppService in the other namespace serve a host.
func (s *scene) serves(host string) {
	s.Helper()
	s.make(s.victim, s.appService(s.victim, "app", "{ports: [{port: 80}], ingress: {hosts: ["+host+"]}}"))
	harness.Eventually(s.T, "somebody serves the host", func() error { return has(s, s.victim) })
}

func withHost(text, host string) string { return strings.ReplaceAll(text, "HOST", host) }

// taken is a vector of a tenant who wants the requests to a host that is served from another namespace.
func taken(serves, asks, fixed string) vector {
	const host = "shop.VICTIM.example.com"
	return vector{
		prepare: func(s *scene) { s.serves(withHost(serves, host)) },
		does:    applies("{ports: [{port: 80}], ingress: {hosts: [" + withHost(asks, host) + "]}}"),
		harm:    func(s *scene) error { return has(s, s.namespace) },
		guard:   onePerNamespace, fixed: fixed, shared: fixed == "", reason: v1.ReasonHostConflict, words: []string{"only one namespace may use a host"},
	}
}

// wildcard is a vector of a tenant who asks for all hosts of a domain.
func wildcard(asks string) vector {
	return vector{
		prepare: func(s *scene) { s.serves(`{host: shop.VICTIM.example.com, paths: [{path: /app}]}`) },
		does:    applies("{ports: [{port: 80}], ingress: {hosts: [" + asks + "]}}"),
		harm:    func(s *scene) error { return has(s, s.namespace) },
		guard:   "wildcardHosts of the policy", shared: true, reason: v1.ReasonPolicyViolation, words: []string{"wildcardHosts"},
	}
}

// plainIngress is an Ingress without any label; without a host, it is for all of them.
func (s *scene) plainIngress(namespace, host string) *networkingv1.Ingress {
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "app", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "plain"},
		Spec:       networkingv1.IngressSpec{DefaultBackend: &backend, Rules: []networkingv1.IngressRule{{Host: host}}},
	}
}

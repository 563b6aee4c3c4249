package security

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

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
	"an exact path beside one of somebody else": taken(
		`{host: HOST, paths: [{path: /app, pathType: Exact}]}`, `{host: HOST, paths: [{path: /app/x, pathType: Exact}]}`, ""),
	"a wildcard over a host of somebody else": wildcard(`{host: "*.VICTIM.example.com", paths: [{path: /shop}]}`),
	"a wildcard of nobody":                    wildcard(`{host: "*.NAMESPACE.example.org"}`),
	"a host for an application that never runs": {
		does: func(s *scene) error {
			err := applies(`{ports: [{port: 80}], ingress: {hosts: [{host: shop.VICTIM.example.com}]}}`)(s)
			if err == nil {
				harness.Eventually(s.T, "the tenant has the host", func() error { return has(s, s.namespace) })
				s.make(s.victim, s.appService(s.victim, "app", `{size: 1, ports: [{port: 80}], ingress: {hosts: [{host: shop.VICTIM.example.com}]}}`))
			}
			return err
		},
		guard: "who was never ready gives way to who was", fixed: "an application that was never ready keeps no host, whatever the policy says",
		seen: func(s *scene) error { return has(s, s.victim) }, harm: func(s *scene) error { return has(s, s.namespace) },
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
		guard:   onePerNamespace, fixed: fixed, reason: v1.ReasonHostConflict, words: []string{"a host belongs to one"},
	}
}

// wildcard is a vector of a tenant who asks for all hosts of a domain.
func wildcard(asks string) vector {
	return vector{
		prepare: func(s *scene) { s.serves(`{host: shop.VICTIM.example.com, paths: [{path: /app}]}`) },
		does:    applies("{ports: [{port: 80}], ingress: {hosts: [" + asks + "]}}"),
		harm:    func(s *scene) error { return has(s, s.namespace) },
		guard:   "wildcardHosts of the policy", reason: v1.ReasonPolicyViolation, words: []string{"wildcardHosts"},
	}
}

//go:build cluster

package security

import (
	"errors"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// writesRoutes are the rights of a tenant who may have routes made, and listeners.
var writesRoutes = []rbacv1.PolicyRule{{APIGroups: []string{"gateway.networking.k8s.io"}, Resources: []string{"httproutes", "listenersets"}, Verbs: []string{"create", "update"}}}

// Routes that lead elsewhere, and hosts that are taken by them.
var _ = register(vectors{
	"a mirror in another namespace, by a field that there is not": {
		may:   writesRoutes,
		does:  applies(`{ports: [{port: 80}], route: {parentRefs: [{name: a}], hostnames: [app.NAMESPACE.example.com], rules: [{mirror: {service: app, namespace: VICTIM, port: 80}}]}}`),
		seen:  routed,
		harm:  leadsTo("filters", "requestMirror", "backendRef"),
		guard: "the schema has no such field", fixed: "the API server drops what no schema knows, whatever rules it has",
	},
	"a backend in another namespace, by a field that there is not": {
		may:   writesRoutes,
		does:  applies(`{ports: [{port: 80}], route: {parentRefs: [{name: a}], hostnames: [app.NAMESPACE.example.com], rules: [{backends: [{service: app, namespace: VICTIM, port: 80}]}]}}`),
		seen:  routed,
		harm:  leadsTo("backendRefs"),
		guard: "the schema has no such field", fixed: "the API server drops what no schema knows, whatever rules it has",
	},
	"a certificate for a host of somebody else, by listeners of its own": {
		may:     writesRoutes,
		prepare: func(s *scene) { s.serves(`{host: shop.VICTIM.example.com}`) },
		does: applies(`{ports: [{port: 80}], route: {parentRefs: [{name: a}], hostnames: [shop.VICTIM.example.com], tls: {clusterIssuer: letsencrypt},
			rules: [{matches: [{path: /login}]}]}}`),
		harm:  func(s *scene) error { return s.ofGateways("ListenerSet", &unstructured.Unstructured{}) },
		guard: onePerNamespace, shared: true, reason: v1.ReasonHostConflict, words: []string{"only one namespace may use a host"},
	},
})

// ofGateways reads the object app of a kind of the Gateway API.
func (s *scene) ofGateways(kind string, into *unstructured.Unstructured) error {
	into.SetAPIVersion("gateway.networking.k8s.io/v1")
	into.SetKind(kind)
	return cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "app"}, into)
}

// routed returns nil once the route is there.
func routed(s *scene) error { return s.ofGateways("HTTPRoute", &unstructured.Unstructured{}) }

// leadsTo returns nil once a part of the first rule of the route names a namespace.
func leadsTo(path ...string) func(s *scene) error {
	return func(s *scene) error {
		route := &unstructured.Unstructured{}
		if err := s.ofGateways("HTTPRoute", route); err != nil {
			return err
		}
		rules, _, _ := unstructured.NestedSlice(route.Object, "spec", "rules")
		rule, _ := rules[0].(map[string]any)
		parts, _, _ := unstructured.NestedSlice(rule, path[0])
		for _, part := range parts {
			if namespace, _, _ := unstructured.NestedString(part.(map[string]any), append(path[1:], "namespace")...); namespace != "" {
				return nil
			}
		}
		return errors.New("it names no namespace")
	}
}

package status

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
)

func TestEndpointsOfARouteAreThoseOfItsListeners(t *testing.T) {
	const spec = `{parentRefs: [{name: edge}], hostnames: [a.example.com, "*.b.example.com"], rules: [{}, {matches: [{path: {value: /api/}}]}]}`
	both := &gateway.Gateway{Listeners: []gateway.Listener{{Name: "http", Protocol: "HTTP", Port: 80}, {Name: "https", Protocol: "HTTPS", Port: 8443}}}
	cases := map[string]struct {
		gateways gateway.Gateways
		want     []string
		url      string
	}{
		"known": {
			gateway.Gateways{{Namespace: "demo", Name: "edge"}: both},
			[]string{
				"https://a.example.com:8443", "https://a.example.com:8443/api", "https://*.b.example.com:8443", "https://*.b.example.com:8443/api",
				"http://a.example.com", "http://a.example.com/api", "http://*.b.example.com", "http://*.b.example.com/api", "http://web.demo.svc",
			},
			"https://a.example.com:8443",
		},
		"unknown": {
			nil,
			[]string{"http://a.example.com", "http://a.example.com/api", "http://*.b.example.com", "http://*.b.example.com/api", "http://web.demo.svc"},
			"http://a.example.com",
		},
		"of a Gateway that does not exist": {
			gateway.Gateways{{Namespace: "demo", Name: "edge"}: nil}, []string{"http://web.demo.svc"}, "http://web.demo.svc",
		},
		"of a Gateway of that name elsewhere": {
			gateway.Gateways{{Namespace: "infra", Name: "edge"}: both},
			[]string{"http://a.example.com", "http://a.example.com/api", "http://*.b.example.com", "http://*.b.example.com/api", "http://web.demo.svc"},
			"http://a.example.com",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := v1.AppServiceStatus{}
			endpoints(&got, Input{Resource: resource(), Snapshot: snapshot(t, route(spec), service(corev1.ServicePort{Port: 80})), Gateways: test.gateways})
			var urls []string
			for _, endpoint := range got.Endpoints {
				urls = append(urls, endpoint.URL)
				if inside := strings.Contains(endpoint.URL, ".svc"); inside != (endpoint.Scope == v1.ScopeCluster) {
					t.Errorf("%s has the scope %s", endpoint.URL, endpoint.Scope)
				}
			}
			if !slices.Equal(urls, test.want) || got.URL != test.url {
				t.Errorf("got %q of %q, want %q of %q", got.URL, urls, test.url, test.want)
			}
		})
	}
}

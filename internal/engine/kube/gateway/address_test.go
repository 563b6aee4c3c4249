package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &out.Object))
	return out
}

// route is an HTTPRoute in demo.
func route(t *testing.T, spec, parents string) *Route {
	t.Helper()
	return RouteOf(object(t, "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, namespace: demo, generation: 2}, spec: {"+
		spec+"}, status: {parents: ["+parents+"]}}"))
}

// gatewayWith has listeners.
func gatewayWith(t *testing.T, listeners string) *Gateway {
	t.Helper()
	return Of(object(t, "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: edge}, spec: {listeners: ["+listeners+"]}}"))
}

func TestAddresses(t *testing.T) {
	const (
		all   = "allowedRoutes: {namespaces: {from: All}}"
		http  = "{name: http, protocol: HTTP, port: 80, " + all + "}"
		https = "{name: https, protocol: HTTPS, port: 443, " + all + "}"
		one   = "parentRefs: [{name: edge, namespace: infra}], hostnames: [a.example.com]"
		entry = "{controllerName: x, parentRef: {name: edge, namespace: infra}, conditions: [{type: Accepted, status: "
	)
	hosted := func(hostname string) string {
		return "{name: https, protocol: HTTPS, port: 443, hostname: '" + hostname + "', " + all + "}"
	}
	cases := map[string]struct {
		spec, parents string
		listeners     string // of the Gateway infra/edge; nothing is known of it if there are none
		want          []string
	}{
		"HTTP":                                 {spec: one, listeners: http, want: []string{"http://a.example.com"}},
		"listeners of its own":                 {spec: "parentRefs: [{kind: ListenerSet, name: web}], hostnames: [a.example.com]", want: []string{"https://a.example.com"}},
		"HTTPS":                                {spec: one, listeners: https, want: []string{"https://a.example.com"}},
		"both, TLS first":                      {spec: one, listeners: http + "," + https, want: []string{"https://a.example.com", "http://a.example.com"}},
		"another port":                         {spec: one, listeners: "{name: x, protocol: HTTPS, port: 8443, " + all + "}", want: []string{"https://a.example.com:8443"}},
		"HTTP on the port of HTTPS":            {spec: one, listeners: "{name: x, protocol: HTTP, port: 443, " + all + "}", want: []string{"http://a.example.com:443"}},
		"TLS that is passed through":           {spec: one, listeners: http + ", {name: tls, protocol: TLS, port: 443, tls: {mode: Passthrough}, " + all + "}", want: []string{"http://a.example.com"}},
		"TCP":                                  {spec: one, listeners: "{name: x, protocol: TCP, port: 80, " + all + "}"},
		"one listener by its name":             {spec: "parentRefs: [{name: edge, namespace: infra, sectionName: http}], hostnames: [a.example.com]", listeners: http + "," + https, want: []string{"http://a.example.com"}},
		"one listener by its port":             {spec: "parentRefs: [{name: edge, namespace: infra, port: 443}], hostnames: [a.example.com]", listeners: http + "," + https, want: []string{"https://a.example.com"}},
		"a listener that there is not":         {spec: "parentRefs: [{name: edge, namespace: infra, sectionName: other}], hostnames: [a.example.com]", listeners: http},
		"two parents":                          {spec: "parentRefs: [{name: edge, namespace: infra, sectionName: http}, {name: edge, namespace: infra, sectionName: https}], hostnames: [a.example.com]", listeners: http + "," + https, want: []string{"https://a.example.com", "http://a.example.com"}},
		"two parents, one unknown":             {spec: "parentRefs: [{name: edge, namespace: infra}, {name: edge}], hostnames: [a.example.com]", listeners: http, want: []string{"http://a.example.com"}},
		"the same listener twice":              {spec: "parentRefs: [{name: edge, namespace: infra}, {name: edge, namespace: infra, sectionName: http}], hostnames: [a.example.com]", listeners: http, want: []string{"http://a.example.com"}},
		"a host of the listener":               {spec: one, listeners: hosted("a.example.com"), want: []string{"https://a.example.com"}},
		"another host of the listener":         {spec: one, listeners: hosted("b.example.com")},
		"a host under the listener's wildcard": {spec: one, listeners: hosted("*.example.com"), want: []string{"https://a.example.com"}},
		"a host beside the wildcard":           {spec: one, listeners: hosted("*.example.org")},
		"the domain of the wildcard":           {spec: "parentRefs: [{name: edge, namespace: infra}], hostnames: [example.com]", listeners: hosted("*.example.com")},
		"several labels under the wildcard":    {spec: "parentRefs: [{name: edge, namespace: infra}], hostnames: [a.b.example.com]", listeners: hosted("*.example.com"), want: []string{"https://a.b.example.com"}},
		"a wildcard over the listener's host":  {spec: "parentRefs: [{name: edge, namespace: infra}], hostnames: ['*.example.com']", listeners: hosted("a.example.com"), want: []string{"https://a.example.com"}},
		"a wildcard in a wider one":            {spec: "parentRefs: [{name: edge, namespace: infra}], hostnames: ['*.a.example.com']", listeners: hosted("*.example.com"), want: []string{"https://*.a.example.com"}},
		"a wildcard over a narrower one":       {spec: "parentRefs: [{name: edge, namespace: infra}], hostnames: ['*.example.com']", listeners: hosted("*.a.example.com"), want: []string{"https://*.a.example.com"}},
		"the same wildcard":                    {spec: "parentRefs: [{name: edge, namespace: infra}], hostnames: ['*.example.com']", listeners: hosted("*.example.com"), want: []string{"https://*.example.com"}},
		"a route for all hosts":                {spec: "parentRefs: [{name: edge, namespace: infra}]", listeners: hosted("a.example.com") + "," + http, want: []string{"https://a.example.com"}},
		"some hosts are the listener's":        {spec: "parentRefs: [{name: edge, namespace: infra}], hostnames: [a.example.com, b.example.com]", listeners: hosted("b.example.com"), want: []string{"https://b.example.com"}},
		"a listener for its own namespace":     {spec: one, listeners: "{name: x, protocol: HTTPS, port: 443, allowedRoutes: {namespaces: {from: Same}}}," + http, want: []string{"http://a.example.com"}},
		"a listener that says nothing":         {spec: one, listeners: "{name: x, protocol: HTTPS, port: 443}," + http, want: []string{"http://a.example.com"}},
		"a listener for some namespaces":       {spec: one, listeners: "{name: x, protocol: HTTPS, port: 443, allowedRoutes: {namespaces: {from: Selector}}}", want: []string{"https://a.example.com"}},
		"a listener for none":                  {spec: one, listeners: "{name: x, protocol: HTTPS, port: 443, allowedRoutes: {namespaces: {from: None}}}"},
		"a listener for another kind":          {spec: one, listeners: "{name: x, protocol: HTTPS, port: 443, allowedRoutes: {namespaces: {from: All}, kinds: [{kind: GRPCRoute}]}}"},
		"a listener for the kind":              {spec: one, listeners: "{name: x, protocol: HTTPS, port: 443, allowedRoutes: {namespaces: {from: All}, kinds: [{kind: GRPCRoute}, {kind: HTTPRoute}]}}", want: []string{"https://a.example.com"}},
		"a listener for its group's kind":      {spec: one, listeners: "{name: x, protocol: HTTPS, port: 443, allowedRoutes: {namespaces: {from: All}, kinds: [{group: gateway.networking.k8s.io, kind: HTTPRoute}]}}", want: []string{"https://a.example.com"}},
		"a Service of a mesh":                  {spec: "parentRefs: [{group: '', kind: Service, name: web}], hostnames: [web]"},
		"a parent of another kind":             {spec: "parentRefs: [{group: gateway.networking.x-k8s.io, kind: XListenerSet, name: edge, namespace: infra}], hostnames: [a.example.com]", listeners: https, want: []string{"http://a.example.com"}},
		"no parents":                           {spec: "hostnames: [a.example.com]"},
		"nothing is known":                     {spec: one, want: []string{"http://a.example.com"}},
		"nothing is known but port 443":        {spec: "parentRefs: [{name: edge, namespace: infra, port: 443}], hostnames: [a.example.com]", want: []string{"https://a.example.com"}},
		"nothing is known but a port":          {spec: "parentRefs: [{name: edge, namespace: infra, port: 8080}], hostnames: [a.example.com]", want: []string{"http://a.example.com:8080"}},
		"nothing is known and all hosts":       {spec: "parentRefs: [{name: edge, namespace: infra}]"},
		"accepted":                             {spec: one, parents: entry + `"True"}]}`, listeners: https, want: []string{"https://a.example.com"}},
		"refused":                              {spec: one, parents: entry + `"False"}]}`, listeners: https},
		"refused by one of two":                {spec: one, parents: entry + `"False"}]}, ` + entry + `"True"}]}`, listeners: https, want: []string{"https://a.example.com"}},
		"refused in an earlier version":        {spec: one, parents: entry + `"False", observedGeneration: 1}]}`, listeners: https, want: []string{"https://a.example.com"}},
		"a host in capitals":                   {spec: "parentRefs: [{name: edge, namespace: infra}], hostnames: [A.Example.com]", listeners: hosted("a.example.COM"), want: []string{"https://a.example.com"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var known Gateways
			if test.listeners != "" {
				known = Gateways{{Namespace: "infra", Name: "edge"}: gatewayWith(t, test.listeners)}
			}
			var got []string
			for _, address := range route(t, test.spec, test.parents).Addresses(known) {
				got = append(got, address.String())
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestGatewaysOfARoute(t *testing.T) {
	got := route(t, "parentRefs: [{name: edge}, {name: edge, sectionName: http}, {name: edge, namespace: infra}, {group: '', kind: Service, name: web}]", "").Gateways()
	want := []types.NamespacedName{{Namespace: "demo", Name: "edge"}, {Namespace: "infra", Name: "edge"}}
	assert.Equal(t, want, got)
	if other := RouteOf(object(t, "{apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: web}}")); other != nil {
		t.Errorf("got %+v of a route of another API", other)
	}
}

package hosts

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// object decodes YAML.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

func ingress(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, namespace: demo}, spec: `+spec+`}`)
}

func httpRoute(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, namespace: demo}, spec: `+spec+`}`)
}

func grpcRoute(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{apiVersion: gateway.networking.k8s.io/v1, kind: GRPCRoute, metadata: {name: web, namespace: demo}, spec: `+spec+`}`)
}

func listenerSet(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: web, namespace: demo}, spec: `+spec+`}`)
}

func words(paths []RoutePath) []string {
	var list []string
	for _, path := range paths {
		list = append(list, string(path.Path.Match)+" "+path.String())
	}
	return list
}

func TestRoutePathsOf(t *testing.T) {
	cases := map[string]struct {
		object func(testing.TB, string) *unstructured.Unstructured
		spec   string
		want   []string
	}{
		"an Ingress with a host":         {ingress, `{rules: [{host: A.example.com, http: {paths: [{path: /, pathType: Prefix}]}}]}`, []string{"Prefix a.example.com/"}},
		"paths":                          {ingress, `{rules: [{host: a.example.com, http: {paths: [{path: /y/, pathType: Exact}, {path: /x/, pathType: Prefix}]}}]}`, []string{"Prefix a.example.com/x", "Exact a.example.com/y"}},
		"paths that may be expressions":  {ingress, `{rules: [{host: a.example.com, http: {paths: [{path: "/sho[p]", pathType: Prefix}, {path: "/[s]hop.*", pathType: Exact}, {path: "/a.b", pathType: Exact}]}}]}`, []string{"Pattern a.example.com/[s]hop.*", "Exact a.example.com/a.b", "Pattern a.example.com/sho[p]"}},
		"what is up to the controller":   {ingress, `{rules: [{host: a.example.com, http: {paths: [{path: "/x/.*", pathType: ImplementationSpecific}, {pathType: ImplementationSpecific}]}}]}`, []string{"Pattern a.example.com/", "Pattern a.example.com/x/.*"}},
		"a rule without paths":           {ingress, `{rules: [{host: a.example.com}]}`, []string{"Prefix a.example.com/"}},
		"a rule without a host":          {ingress, `{ingressClassName: nginx, rules: [{http: {paths: [{path: /x, pathType: Prefix}]}}]}`, []string{"Prefix any host of Ingress nginx under /x"}},
		"a default backend":              {ingress, `{defaultBackend: {service: {name: web}}, rules: [{host: a.example.com}]}`, []string{"Prefix any host of Ingress under /", "Prefix a.example.com/"}},
		"a route":                        {httpRoute, `{parentRefs: [{name: g}], hostnames: [a.example.com, "*.B.example.com"]}`, []string{"Prefix *.b.example.com/", "Prefix a.example.com/"}},
		"a route that says all defaults": {httpRoute, `{parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}], hostnames: [a.example.com], rules: [{matches: [{path: {type: PathPrefix, value: /}}]}]}`, []string{"Prefix a.example.com/"}},
		"a route without hosts":          {httpRoute, `{parentRefs: [{name: g}, {name: h, namespace: infra}]}`, []string{"Prefix any host of Gateway demo/g under /", "Prefix any host of Gateway infra/h under /"}},
		"a route without a gateway":      {httpRoute, `{hostnames: [a.example.com]}`, nil},
		"rules of a route":               {httpRoute, `{parentRefs: [{name: g}], hostnames: [a.example.com], rules: [{matches: [{path: {type: Exact, value: /x}}, {method: GET}]}, {}]}`, []string{"Prefix a.example.com/", "Exact a.example.com/x"}},
		"headers and parameters":         {httpRoute, `{parentRefs: [{name: g}], hostnames: [a.example.com], rules: [{matches: [{headers: [{name: X-B, value: "2"}, {name: x-a, value: "1.*", type: RegularExpression}, {name: x-b, value: "3"}], queryParams: [{name: Q, value: "1"}]}]}]}`, []string{"Prefix a.example.com/"}},
		"a regular expression":           {httpRoute, `{parentRefs: [{name: g}], hostnames: [a.example.com], rules: [{matches: [{path: {type: RegularExpression, value: "/(x|y)"}}]}]}`, []string{"Pattern a.example.com/(x|y)"}},
		"methods of gRPC":                {grpcRoute, `{parentRefs: [{name: g}], hostnames: [a.example.com], rules: [{matches: [{method: {service: s, method: m}}, {method: {service: t}}, {method: {method: x}}]}]}`, []string{"Pattern a.example.com/.*/x", "Exact a.example.com/s/m", "Prefix a.example.com/t"}},
		"two parents and the same host":  {httpRoute, `{parentRefs: [{name: g}, {name: g}], hostnames: [a.example.com, A.example.com]}`, []string{"Prefix a.example.com/"}},
		"added listeners, without paths": {listenerSet, `{parentRef: {name: g, namespace: infra}, listeners: [{name: a, hostname: A.example.com}, {name: b, hostname: "*.b.example.com"}]}`, []string{" *.b.example.com/", " a.example.com/"}},
		"what the API server refuses":    {ingress, `7`, nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := words(RoutePathsOf(test.object(t, test.spec))); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := RoutePathsOf(object(t, `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {externalName: a.example.com}}`)); got != nil {
		t.Errorf("another kind: got %v", got)
	}
}

func TestALiveIngressClaimsWhatTheRenderedOneDoes(t *testing.T) {
	rendered := ingress(t, `{ingressClassName: nginx, defaultBackend: {service: {name: web, port: {number: 80}}}, rules: [{host: a.example.com, http: {paths: [{path: /x, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}]}}]}`)
	live := &networkingv1.Ingress{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, live))
	live.GetObjectKind().SetGroupVersionKind(rendered.GroupVersionKind()) // as the caches do
	if got, want := routePathsOf(live, math.MaxInt), RoutePathsOf(rendered); len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

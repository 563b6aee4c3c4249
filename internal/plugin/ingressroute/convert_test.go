package ingressroute

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// converted returns route, ports and what is left of the Ingress, and the notes.
func converted(t *testing.T, ingress, annotations string) (route string, rest *v1.AppServiceSpec, notes string) {
	t.Helper()
	given := &v1.AppServiceSpec{Ports: []v1.Port{{Port: 80}}, Ingress: &v1.Ingress{}}
	require.NoError(t, yaml.UnmarshalStrict([]byte(ingress), given.Ingress))
	short := map[string]v1.Annotation{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(annotations), &short))
	for key, value := range short {
		if given.Ingress.Annotations == nil {
			given.Ingress.Annotations = map[string]v1.Annotation{}
		}
		given.Ingress.Annotations[prefix+key] = value
	}
	spec, list, err := Convert(given, v1.RouteParent{Name: "edge"})
	require.NoError(t, err)
	for _, note := range list {
		notes += note.Field + ": " + note.Text + "\n"
	}
	spec.Route.ParentRefs = nil
	text, err := yaml.Marshal(spec.Route)
	require.NoError(t, err)
	return strings.Replace(string(text), "parentRefs: null\n", "", 1), spec, notes
}

func TestConvert(t *testing.T) {
	const host, api = "{hosts: [{host: a.example.com}]}", "{hosts: [{host: a.example.com, paths: [{path: /api}]}]}"
	const rule, at = "hostnames:\n- a.example.com\nrules:\n", "hostnames:\n- a.example.com\nrules:\n- matches:\n  - path: /api\n    pathType: PathPrefix\n"
	paths := func(path string) string {
		return "{hosts: [{host: a.example.com, paths: [{path: '" + path + "', pathType: ImplementationSpecific}]}]}"
	}
	for name, test := range map[string]struct{ ingress, annotations, route, notes string }{
		"a host":                     {host, "", rule + "- {}\n", ""},
		"paths and ports":            {"{hosts: [{host: a.example.com, paths: [{path: /x, pathType: Exact, port: 80}, {path: /}]}, {host: b.example.com, paths: [{path: /x, pathType: Exact, port: 80}, {path: /}]}]}", "", "hostnames:\n- a.example.com\n- b.example.com\nrules:\n- matches:\n  - path: /x\n    pathType: Exact\n  port: 80\n- matches:\n  - path: /\n    pathType: PathPrefix\n", ""},
		"a certificate":              {"{clusterIssuer: le, hosts: [{host: a.example.com}], tls: [{secretName: a, hosts: [a.example.com]}]}", "", "hostnames:\n- a.example.com\nredirectHTTP: true\nrules:\n- {}\ntls:\n  clusterIssuer: le\n  secretName: a\n", "allowedListeners"},
		"a certificate, and HTTP":    {"{issuer: le, hosts: [{host: a.example.com}], tls: [{hosts: [a.example.com]}]}", "{ssl-redirect: 'false'}", rule + "- {}\ntls:\n  issuer: le\n", "allowedListeners"},
		"HTTPS by force":             {host, "{force-ssl-redirect: 'true'}", "hostnames:\n- a.example.com\nredirectHTTP: true\nrules:\n- {}\n", ""},
		"several certificates":       {"{hosts: [{host: a.example.com}, {host: b.example.com}], tls: [{secretName: a, hosts: [a.example.com]}, {secretName: b, hosts: [b.example.com]}]}", "", "hostnames:\n- a.example.com\n- b.example.com\nredirectHTTP: true\nrules:\n- {}\n", "a route has one certificate"},
		"a target":                   {api, "{rewrite-target: /v1}", at + "  rewrite:\n    path: /v1\n", ""},
		"a target for the rest":      {paths("/api(/|$)(.*)"), "{rewrite-target: /$2, use-regex: 'true'}", at + "  rewrite:\n    prefix: /\n", ""},
		"a target with a prefix":     {paths("/api/(.*)"), "{rewrite-target: /v2/$1}", at + "  rewrite:\n    prefix: /v2\n", ""},
		"a target that is as before": {paths("/(.*)"), "{rewrite-target: /$1}", rule + "- matches:\n  - path: /\n    pathType: PathPrefix\n", ""},
		"another group":              {paths("/api(/|$)(.*)"), "{rewrite-target: /$1}", rule + "- matches:\n  - path: /api(/|$)(.*)\n    pathType: RegularExpression\n", "has no equal"},
		"a regular expression":       {paths("/v[0-9]+"), "{use-regex: 'true'}", rule + "- matches:\n  - path: /v[0-9]+\n    pathType: RegularExpression\n", ""},
		"the root":                   {host, "{app-root: /home}", rule + "- matches:\n  - path: /\n    pathType: Exact\n  redirect:\n    path: /home\n- {}\n", ""},
		"CORS":                       {host, "{enable-cors: 'true', cors-allow-origin: 'https://a.example.org, https://b.example.org', cors-allow-methods: GET, cors-allow-headers: x-a, cors-max-age: '9', cors-allow-credentials: 'false'}", rule + "- cors:\n    allowHeaders:\n    - x-a\n    allowMethods:\n    - GET\n    allowOrigins:\n    - https://a.example.org\n    - https://b.example.org\n    maxAge: 9\n", ""},
		"CORS that are off":          {host, "{cors-max-age: '9'}", rule + "- {}\n", "has no effect without enable-cors"},
		"timeouts and retries":       {host, "{proxy-read-timeout: '30', proxy-next-upstream: error timeout http_503, proxy-next-upstream-tries: '3', proxy-next-upstream-timeout: '60'}", rule + "- backendRequestTimeout: 30s\n  requestTimeout: 60s\n  retry:\n    attempts: 2\n    codes:\n    - 503\n", "not between two reads"},
		"a header":                   {api, "{x-forwarded-prefix: 'true'}", at + "  requestHeaders:\n    set:\n      x-forwarded-prefix: /api\n", ""},
		"who may come":               {host, "{whitelist-source-range: 10.0.0.0/8}", rule + "- {}\n", "everyone reaches the route"},
		"what nobody knows":          {host, "{server-snippet: a}", rule + "- {}\n", "server-snippet is left out: no field of a route does this"},
		"of another controller":      {"{annotations: {example.com/a: b}, hosts: [{host: a.example.com}]}", "", rule + "- {}\n", "example.com/a is for the Ingress only"},
	} {
		t.Run(name, func(t *testing.T) {
			route, rest, notes := converted(t, test.ingress, test.annotations)
			assert.Equal(t, test.route, route)
			assert.Equal(t, test.notes == "", notes == "", notes)
			assert.Contains(t, notes, test.notes)
			assert.Nil(t, rest.Ingress)
		})
	}
}

func TestPortsThatSpeakGRPCSayIt(t *testing.T) {
	_, rest, notes := converted(t, "{hosts: [{host: a.example.com}]}", "{backend-protocol: GRPC}")
	assert.Equal(t, "kubernetes.io/h2c", *rest.Ports[0].AppProtocol)
	assert.Empty(t, notes)
	_, _, notes = converted(t, "{hosts: [{host: a.example.com}]}", "{backend-protocol: HTTPS}")
	assert.Contains(t, notes, "BackendTLSPolicy")
}

func TestHostsWithOtherPathsStay(t *testing.T) {
	route, rest, notes := converted(t, "{hosts: [{host: a.example.com}, {host: b.example.com, paths: [{path: /b}]}]}", "")
	assert.Equal(t, "hostnames:\n- a.example.com\nrules:\n- {}\n", route)
	assert.Equal(t, "b.example.com", rest.Ingress.Hosts[0].Host)
	assert.Contains(t, notes, "b.example.com stays in the Ingress")
}

func TestNothingToConvert(t *testing.T) {
	_, _, err := Convert(&v1.AppServiceSpec{}, v1.RouteParent{})
	assert.ErrorContains(t, err, "spec.ingress has no hosts")
	_, _, err = Convert(&v1.AppServiceSpec{Ingress: &v1.Ingress{Hosts: []v1.IngressHost{{}}}, Route: &v1.Route{}}, v1.RouteParent{})
	assert.ErrorContains(t, err, "spec.route is there already")
}

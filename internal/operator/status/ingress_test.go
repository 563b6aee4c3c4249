package status

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

func TestIngressEndpoints(t *testing.T) {
	const addresses = `loadBalancer: {ingress: [{ip: "192.0.2.1"}, {ip: "2001:db8::1"}, {hostname: lb.example.com}]}`
	rule := func(host string) string {
		return `{host: "` + host + `", http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web}}}]}}`
	}
	cases := map[string]struct {
		spec, status string
		want         []string
	}{
		"without TLS":                           {spec: "rules: [" + rule("a.example.com") + "]", want: []string{"http://a.example.com"}},
		"TLS for the host":                      {spec: "tls: [{hosts: [a.example.com]}], rules: [" + rule("a.example.com") + "]", want: []string{"https://a.example.com"}},
		"TLS for another host":                  {spec: "tls: [{hosts: [b.example.com]}], rules: [" + rule("a.example.com") + "]", want: []string{"http://a.example.com"}},
		"TLS without hosts is for all":          {spec: "tls: [{secretName: x}], rules: [" + rule("a.example.com") + "," + rule("b.example.com") + "]", want: []string{"https://a.example.com", "https://b.example.com"}},
		"TLS for a wildcard":                    {spec: `tls: [{hosts: ["*.example.com"]}], rules: [` + rule("a.example.com") + "]", want: []string{"https://a.example.com"}},
		"a wildcard covers one label":           {spec: `tls: [{hosts: ["*.example.com"]}], rules: [` + rule("a.b.example.com") + "," + rule("example.com") + "]", want: []string{"http://a.b.example.com", "http://example.com"}},
		"a wildcard with TLS":                   {spec: `tls: [{hosts: ["*.example.com"]}], rules: [` + rule("*.example.com") + "]", want: []string{"https://*.example.com"}},
		"a block for one host, one for another": {spec: "tls: [{hosts: [a.example.com]}, {hosts: [b.example.com]}], rules: [" + rule("b.example.com") + "]", want: []string{"https://b.example.com"}},
		"all hosts":                             {spec: "rules: [" + rule("") + "]", status: addresses, want: []string{"http://192.0.2.1", "http://[2001:db8::1]", "http://lb.example.com"}},
		"all hosts with TLS":                    {spec: "tls: [{secretName: x}], rules: [" + rule("") + "]", status: addresses, want: []string{"https://192.0.2.1", "https://[2001:db8::1]", "https://lb.example.com"}},
		"all hosts without an address":          {spec: "rules: [" + rule("") + "]"},
		"nothing but a default backend":         {spec: "defaultBackend: {service: {name: web}}", status: addresses, want: []string{"http://192.0.2.1", "http://[2001:db8::1]", "http://lb.example.com"}},
		"a host for the default backend":        {spec: "defaultBackend: {service: {name: web}}, rules: [{host: a.example.com}]", want: []string{"http://a.example.com"}},
		"a host without paths and backend":      {spec: "rules: [{host: a.example.com}]"},
		"paths of the controller's own kind": {
			spec: "rules: [{host: a.example.com, http: {paths: [{path: /api, pathType: ImplementationSpecific}, {path: '/(.*)', pathType: ImplementationSpecific}, {path: '/a+b', pathType: Exact}]}}]",
			want: []string{"http://a.example.com/api", "http://a.example.com/a+b"},
		},
		"the same twice": {spec: "rules: [" + rule("a.example.com") + "," + rule("a.example.com") + "]", want: []string{"http://a.example.com"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			ingress := &networkingv1.Ingress{}
			require.NoError(t, yaml.UnmarshalStrict([]byte("{spec: {"+test.spec+"}, status: {"+test.status+"}}"), ingress))
			var got []string
			for _, endpoint := range ingressEndpoints(ingress) {
				got = append(got, endpoint.URL)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

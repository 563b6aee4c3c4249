package release

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

const ingressOfWeb = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: demo, annotations: {app.example.com/rendered: one}}
spec: {rules: [`

// Paths that cert-manager adds to an Ingress for a challenge stay until it removes them, whatever else is written.
func TestPathsOfChallengesStay(t *testing.T) {
	const (
		app       = `{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}`
		other     = `{path: /, pathType: Prefix, backend: {service: {name: other, port: {number: 80}}}}`
		challenge = `{path: /.well-known/acme-challenge/t, pathType: Exact, backend: {service: {name: cm-acme-http-solver-x, port: {number: 8089}}}}`
		elsewhere = `{path: /.well-known/acme-challenge/t, pathType: Exact, backend: {service: {name: mine, port: {number: 8089}}}}`
		below     = `{path: /x, pathType: Exact, backend: {service: {name: cm-acme-http-solver-x, port: {number: 8089}}}}`
		rendered  = `{host: a.com, http: {paths: [` + app + `]}}`
	)
	rule := func(host, paths string) string { return `{host: ` + host + `, http: {paths: [` + paths + `]}}` }
	for name, test := range map[string]struct{ rendered, live, want string }{
		"none":                               {rendered, rendered, ""},
		"one, after the paths":               {rendered, rule("a.com", app+","+challenge), ""},
		"one, before the paths":              {rendered, rule("a.com", challenge+","+app), ""},
		"two":                                {rendered, rule("a.com", challenge+","+app+","+challenge), ""},
		"one in a rule of its own":           {rendered, rendered + "," + rule("b.com", challenge), ""},
		"one in a rule before":               {rendered, rule("b.com", challenge) + "," + rendered, ""},
		"one in a rule that had no paths":    {"{host: a.com}", rule("a.com", challenge), ""},
		"one beside a path that was changed": {rendered, rule("a.com", challenge+","+other), rule("a.com", challenge+","+app)},
		"one beside a host that is gone":     {rule("b.com", app), rule("a.com", challenge+","+app), rule("a.com", challenge) + "," + rule("b.com", app)},
		"a path of somebody else":            {rendered, rule("a.com", app+","+elsewhere), rendered},
		"another path to such a Service":     {rendered, rule("a.com", app+","+below), rendered},
		"a rule of somebody else":            {rendered, rendered + "," + rule("b.com", app), rendered},
	} {
		t.Run(name, func(t *testing.T) {
			desired, live := object(t, ingressOfWeb+test.rendered+`]}`), object(t, ingressOfWeb+test.live+`]}`)
			before := desired.DeepCopy()
			plan := Compare([]*unstructured.Unstructured{desired}, map[kube.Key]client.Object{kube.KeyOf(live): live})
			require.Equal(t, before, desired, "what was rendered")
			if test.want == "" {
				require.Empty(t, plan.Apply)
				return
			}
			require.Len(t, plan.Apply, 1)
			require.Equal(t, object(t, ingressOfWeb+test.want+`]}`), plan.Apply[0].Desired)
		})
	}
}

package plan

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

const ingressOfWeb = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: demo, annotations: {app.example.com/rendered: one, acme.cert-manager.io/http01-edit-in-place: "true"}}
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

// Only an Ingress whose annotation requests it gets such paths.
func TestPathsOfChallengesNobodyRequestsGo(t *testing.T) {
	const (
		app       = `{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}`
		challenge = `{path: /.well-known/acme-challenge/t, pathType: Exact, backend: {service: {name: cm-acme-http-solver-x, port: {number: 8089}}}}`
		rule      = ingressOfWeb + `{host: a.com, http: {paths: [`
	)
	for _, value := range []string{"", "false"} {
		desired, live := object(t, rule+app+`]}}]}`), object(t, rule+challenge+","+app+`]}}]}`)
		for _, o := range []*unstructured.Unstructured{desired, live} {
			put(t, o, value, "metadata", "annotations", "acme.cert-manager.io/http01-edit-in-place")
		}
		plan := Compare([]*unstructured.Unstructured{desired}, map[kube.Key]client.Object{kube.KeyOf(live): live})
		require.Len(t, plan.Apply, 1, "value %q", value)
		require.Equal(t, desired, plan.Apply[0].Desired)
	}
}

// A controller that an annotation of a workload addresses may annotate its pods; nobody else may.
func TestAnnotationsOfControllersThatAWorkloadAddressesStay(t *testing.T) {
	for name, test := range map[string]struct {
		workload, pods map[string]string
		stays          bool
	}{
		"a controller that is addressed":          {map[string]string{"wave.example.com/restart": "true"}, map[string]string{"wave.example.com/hash": "x"}, true},
		"one that is addressed in a domain below": {map[string]string{"secret.reload.example.com/of": "a"}, map[string]string{"reload.example.com/from": "x"}, true},
		"one that is not addressed":               {nil, map[string]string{"wave.example.com/hash": "x"}, false},
		"another of a like name":                  {map[string]string{"wave.example.com/restart": "true"}, map[string]string{"ave.example.com/hash": "x"}, false},
		"one for which another answers":           {map[string]string{"example.com/restart": "true"}, map[string]string{"wave.example.com/hash": "x"}, false},
		"one above the operator's own":            {nil, map[string]string{"example.com/mine": "x"}, false},
		"one below one that another addresses":    {map[string]string{"x.app.example.com/a": "true"}, map[string]string{v1.AnnotationRestartedAt: "x"}, false},
		"what has no domain":                      {map[string]string{"note": "true"}, map[string]string{"hash": "x"}, false},
		"one of the operator":                     {nil, map[string]string{v1.AnnotationRestartedAt: "x"}, false},
		"one of Kubernetes":                       {map[string]string{"kubernetes.io/change-cause": "true"}, map[string]string{"kubernetes.io/x": "x"}, false},
		"one beside another that is not":          {map[string]string{"wave.example.com/restart": "true"}, map[string]string{"wave.example.com/hash": "x", "mine.example.com/x": "y"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			desired, live := object(t, renderedDeployment), object(t, liveDeployment)
			for _, o := range []*unstructured.Unstructured{desired, live} {
				annotations := o.GetAnnotations()
				maps.Copy(annotations, test.workload)
				o.SetAnnotations(annotations)
			}
			require.NoError(t, unstructured.SetNestedStringMap(live.Object, test.pods, "spec", "template", "metadata", "annotations"))
			plan := Compare([]*unstructured.Unstructured{desired}, map[kube.Key]client.Object{kube.KeyOf(live): live})
			require.Equal(t, test.stays, plan.Empty(), plan)
			desired.SetLabels(map[string]string{"app.example.com/managed": "true", "new": "x"})
			plan = Compare([]*unstructured.Unstructured{desired}, map[kube.Key]client.Object{kube.KeyOf(live): live})
			require.Equal(t, !test.stays, plan.RollsPods(), plan)
			left, _, _ := unstructured.NestedStringMap(plan.Apply[0].Desired.Object, "spec", "template", "metadata", "annotations")
			_, kept := left["wave.example.com/hash"]
			_, addressed := test.workload["wave.example.com/restart"]
			require.Equal(t, addressed && test.pods["wave.example.com/hash"] != "", kept)
		})
	}
}

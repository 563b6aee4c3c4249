package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// annotatedPods is a Deployment of pods with an annotation.
func annotatedPods(key, value string) string {
	return deployment + "{template: {metadata: {annotations: {\"" + key + "\": \"" + value + "\"}}}}"
}

// tightened are objects that earlier versions of the built-in policy allowed, each with another one that they allowed and that is not the same, and
// with a file that allows both.
var tightened = map[string]struct{ object, other, file string }{
	"a node that is kept": {
		annotatedPods("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
		annotatedPods("cluster-autoscaler.kubernetes.io/safe-to-evict", "no"),
		"default: {annotations: {Pod: [\"+\", cluster-autoscaler.kubernetes.io/safe-to-evict]}}",
	},
	"a variable from any Secret, by Dapr": {
		annotatedPods("dapr.io/env-from-secret", "PASSWORD=payments-db"), annotatedPods("dapr.io/env-from-secret", "PASSWORD=other"),
		"default: {annotations: {Pod: [\"+\", dapr.io/env-from-secret]}}",
	},
	"any Secret, by Vault's agent": {
		annotatedPods("vault.hashicorp.com/agent-extra-secret", "payments-db"), annotatedPods("vault.hashicorp.com/agent-extra-secret", "other"),
		"default: {annotations: {Pod: [\"+\", vault.hashicorp.com/agent-extra-secret]}}",
	},
	"any container, by Istio": {
		annotatedPods("proxy.istio.io/overrides", "{}"), annotatedPods("proxy.istio.io/overrides", "[]"),
		"default: {annotations: {Pod: [\"+\", proxy.istio.io/overrides]}}",
	},
	"another revision of Istio, by a label": {
		labeledPods("istio.io/rev", "canary"), labeledPods("istio.io/rev", "other"), "default: {labels: {Pod: [istio.io/rev]}}",
	},
	"a configuration of another namespace, by a label": {
		labeledPods("sidecar.opentelemetry.io/inject", "shop.agent"), labeledPods("sidecar.opentelemetry.io/inject", "other"),
		"default: {labels: {Pod: [sidecar.opentelemetry.io/inject]}}",
	},
	"a middleware of another namespace": {
		annotatedOf("Ingress", "traefik.ingress.kubernetes.io/router.middlewares", "demo-a@kubernetescrd,shop-add-token@kubernetescrd"),
		annotatedOf("Ingress", "traefik.ingress.kubernetes.io/router.middlewares", "shop-auth@kubernetescrd"),
		"default: {annotations: {Ingress: [\"+\", \"traefik.ingress.kubernetes.io/router.middlewares=(<namespace>|shop)-.*\"]}}",
	},
	"a transport of another namespace": {
		annotatedOf("Service", "traefik.ingress.kubernetes.io/service.serverstransport", "shop-a@kubernetescrd"),
		annotatedOf("Service", "traefik.ingress.kubernetes.io/service.serverstransport", "shop-b@kubernetescrd"),
		"default: {annotations: {Service: [\"+\", \"traefik.ingress.kubernetes.io/service.*\"]}}",
	},
	"a backtick in a path": {
		ingress + "{ingressClassName: nginx, rules: [{http: {paths: [{path: \"/x`)||Host(`shop.example.org\", pathType: Prefix}]}}]}",
		ingress + "{ingressClassName: nginx, rules: [{http: {paths: [{path: \"/x`)||Host(`b.example.org\", pathType: Prefix}]}}]}",
		"default: {paths: [Prefix]}",
	},
	"characters of a configuration in a path": {
		ingress + "{ingressClassName: nginx, rules: [{http: {paths: [{path: \"/a{};\", pathType: Exact}]}}]}",
		ingress + "{ingressClassName: nginx, rules: [{http: {paths: [{path: \"/a#\", pathType: Exact}]}}]}",
		"default: {paths: [Exact]}",
	},
	"a backtick in an expression": {
		route + "{rules: [{matches: [{path: {type: RegularExpression, value: \"/x`)||Host(`shop.example.org\"}}]}]}",
		route + "{rules: [{matches: [{path: {type: RegularExpression, value: \"/x`)\"}}]}]}",
		"default: {matches: [\"+\", path]}",
	},
	"a backtick in a header": {
		route + "{rules: [{matches: [{headers: [{name: a, value: \"x`)||Host(`shop.example.org\"}]}]}]}",
		route + "{rules: [{matches: [{headers: [{name: a, value: \"x`\"}]}]}]}",
		"default: {matches: [\"+\", headers]}",
	},
	"a volume by its name": {
		claim + "{volumeName: archive}", claim + "{volumeName: other}", "default: {staticVolumes: true}",
	},
	"an issuer of another group": {
		"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: demo, annotations: {cert-manager.io/issuer: internal, " +
			"cert-manager.io/issuer-kind: ClusterIssuer, cert-manager.io/issuer-group: awspca.cert-manager.io}}",
		"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: demo, annotations: {cert-manager.io/issuer: internal, " +
			"cert-manager.io/issuer-kind: ClusterIssuer, cert-manager.io/issuer-group: other.example.com}}",
		"default: {issuers: [\"*/internal\"]}",
	},
	"the issuer that the platform chose": {
		annotatedOf("Ingress", "kubernetes.io/tls-acme", "true"), "", "default: {issuers: [\"\"]}",
	},
	"pods of a kind that is not built in": {
		rollout + "{template: {spec: {containers: [{name: app, image: x}], runtimeClassName: nvidia}}}",
		rollout + "{template: {spec: {containers: [{name: app, image: x}], runtimeClassName: amd}}}", "default: {runtimeClasses: [nvidia]}",
	},
	"a budget of most of the fewest": {
		budget + "{minAvailable: 99}", budget + "{minAvailable: 98}", "default: {blockingBudgets: true}",
	},
}

// named is the file of a platform that names its issuers, and does not matter to the rest.
const named = "default: {issuers: [ClusterIssuer/internal]}"

func TestWhatEarlierVersionsAllowedGoesOn(t *testing.T) {
	rest := []*unstructured.Unstructured{
		object(t, deployment+"{template: {}}"),
		object(t, scaler+"{scaleTargetRef: {kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 100}"),
	}
	for name, tc := range tightened {
		t.Run(name, func(t *testing.T) {
			rules := rulesOf(t, named, "demo", nil)
			objects := append([]*unstructured.Unstructured{object(t, tc.object)}, rest...)
			var against *Error
			require.ErrorAs(t, rules.Check(objects), &against)
			assert.Len(t, against.Violations, 1)
			require.NoError(t, rules.Earlier().Check(objects))

			assert.Nil(t, rules.Added(against, objects), "the recorded release has it")
			assert.Equal(t, against, rules.Added(against, rest), "the recorded release lacks it")
			if tc.other != "" {
				other := append([]*unstructured.Unstructured{object(t, tc.other)}, rest...)
				assert.Equal(t, against, rules.Added(against, other), "the recorded release has another one")
			}
			require.NoError(t, rulesOf(t, tc.file, "demo", nil).Check(objects), "the file allows it")
			require.NoError(t, rulesOf(t, "builtIn: open", "demo", nil).Check(objects), "open allows it")
			line := against.Error()[strings.LastIndex(against.Error(), "- {"):]
			require.NoError(t, rulesOf(t, named+"\nnamespaces:\n"+line, "demo", nil).Check(objects), "the line of the message allows it")
		})
	}
}

// A platform's own file refuses always, however long something ran.
func TestWhatAPlatformRefusesDoesNotGoOn(t *testing.T) {
	rules := rulesOf(t, "default: {annotations: {Pod: [\"+\", \"!cluster-autoscaler.kubernetes.io/*\"]}}", "demo", nil)
	kept := []*unstructured.Unstructured{object(t, annotatedPods("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"))}
	require.Error(t, rules.Check(kept))
	require.Error(t, rules.Earlier().Check(kept))
}

// A list may have been put into another order since.
func TestThePlaceInAListDoesNotMatter(t *testing.T) {
	of := func(paths string) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{object(t, ingress+"{ingressClassName: nginx, rules: [{http: {paths: ["+paths+"]}}]}")}
	}
	rules := Default().For("demo", nil)
	var against *Error
	require.ErrorAs(t, rules.Check(of("{path: /, pathType: Exact}, {path: \"/a;\", pathType: Exact}")), &against)
	assert.Nil(t, rules.Added(against, of("{path: \"/a;\", pathType: Exact}")))
}

// The next run of a Job has another name, and is the same Job.
func TestTheNameOfARunDoesNotMatter(t *testing.T) {
	of := func(kind, name string) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{object(t, "apiVersion: batch/v1\nkind: "+kind+"\nmetadata: {name: "+name+", namespace: demo}\n"+
			"spec: {template: {metadata: {labels: {istio.io/rev: canary}}, spec: {containers: []}}}")}
	}
	rules := Default().For("demo", nil)
	for recorded, allowed := range map[string]bool{"web-release-194a1c57": true, "web-other-194a1c57": false} {
		var against *Error
		require.ErrorAs(t, rules.Check(of("Job", "web-release-843b49e8")), &against)
		assert.Equal(t, allowed, rules.Added(against, of("Job", recorded)) == nil, recorded)
	}
	var against *Error
	require.ErrorAs(t, rules.Check(of("Deployment", "web-release-843b49e8")), &against)
	assert.NotNil(t, rules.Added(against, of("Deployment", "web-release-194a1c57")))
}

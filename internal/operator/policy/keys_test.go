package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// annotatedAs is an object of a kind, or pods of a Deployment, with an annotation.
func annotatedAs(t *testing.T, kind, key string) *unstructured.Unstructured {
	t.Helper()
	of := object(t, "apiVersion: example.com/v1\nkind: "+kind+"\nmetadata: {name: web}")
	path := []string{"metadata", "annotations"}
	if kind == "Pod" {
		of, path = object(t, deployment+"{template: {}}"), append([]string{"spec", "template"}, path...)
	}
	require.NoError(t, unstructured.SetNestedStringMap(of.Object, map[string]string{key: "x"}, path...))
	return of
}

func TestAnnotationsThatHarmOthersAreRefused(t *testing.T) {
	for kind, keys := range map[string]string{
		"Ingress": `nginx.ingress.kubernetes.io/configuration-snippet nginx.ingress.kubernetes.io/server-snippet
			nginx.ingress.kubernetes.io/auth-snippet nginx.ingress.kubernetes.io/modsecurity-snippet nginx.ingress.kubernetes.io/stream-snippet
			nginx.ingress.kubernetes.io/auth-url nginx.ingress.kubernetes.io/auth-signin nginx.ingress.kubernetes.io/auth-tls-secret
			nginx.ingress.kubernetes.io/permanent-redirect nginx.ingress.kubernetes.io/server-alias nginx.ingress.kubernetes.io/canary
			nginx.ingress.kubernetes.io/canary-weight nginx.ingress.kubernetes.io/canary-by-header nginx.ingress.kubernetes.io/upstream-vhost
			nginx.ingress.kubernetes.io/mirror-target nginx.ingress.kubernetes.io/upstream-hash-by nginx.ingress.kubernetes.io/ssl-passthrough
			nginx.ingress.kubernetes.io/session-cookie-domain nginx.ingress.kubernetes.io/custom-headers
			nginx.ingress.kubernetes.io/from-to-www-redirect nginx.ingress.kubernetes.io/enable-global-auth
			nginx.org/server-snippets haproxy.org/backend-config-snippet
			external-dns.alpha.kubernetes.io/target cert-manager.io/secret-template alb.ingress.kubernetes.io/group.name`,
		"Service": `external-dns.kubernetes.io/hostname metallb.io/loadBalancerIPs metallb.universe.tf/address-pool
			metallb.universe.tf/allow-shared-ip service.beta.kubernetes.io/aws-load-balancer-eip-allocations
			service.beta.kubernetes.io/aws-load-balancer-private-ipv4-addresses service.beta.kubernetes.io/aws-load-balancer-ssl-cert
			service.beta.kubernetes.io/aws-load-balancer-subnets service.beta.kubernetes.io/azure-load-balancer-ipv4
			service.beta.kubernetes.io/azure-dns-label-name service.beta.kubernetes.io/azure-pip-name networking.gke.io/load-balancer-ip-addresses
			kube-vip.io/loadbalancerIPs lbipam.cilium.io/ips service.cilium.io/global`,
		"HTTPRoute": "external-dns.alpha.kubernetes.io/target",
		"Pod": `k8s.v1.cni.cncf.io/networks v1.multus-cni.io/default-network cni.projectcalico.org/ipAddrs iam.amazonaws.com/role
			sidecar.istio.io/userVolume traffic.sidecar.istio.io/excludeOutboundPorts config.linkerd.io/skip-outbound-ports cdi.k8s.io/gpu io.kubernetes.cri-o.Devices io.katacontainers.config.hypervisor.kernel
			karpenter.sh/do-not-disrupt`,
		"ScaledObject": "autoscaling.keda.sh/paused-replicas",
	} {
		for key := range strings.FieldsSeq(keys) {
			t.Run(kind+" "+key, func(t *testing.T) {
				err := Default().For("demo", nil).Check([]*unstructured.Unstructured{annotatedAs(t, kind, key)})
				assert.ErrorContains(t, err, ": annotation "+key+": annotations.")
			})
		}
	}
}

func TestAnnotationsThatPeopleUseAreAllowed(t *testing.T) {
	for kind, keys := range map[string]string{
		"Ingress": `nginx.ingress.kubernetes.io/proxy-body-size nginx.ingress.kubernetes.io/proxy-read-timeout nginx.ingress.kubernetes.io/ssl-redirect
			nginx.ingress.kubernetes.io/enable-cors nginx.ingress.kubernetes.io/cors-allow-origin nginx.ingress.kubernetes.io/affinity
			nginx.ingress.kubernetes.io/session-cookie-name nginx.ingress.kubernetes.io/limit-rps nginx.ingress.kubernetes.io/use-regex
			alb.ingress.kubernetes.io/scheme haproxy.org/timeout-client
			cert-manager.io/issuer cert-manager.io/cluster-issuer cert-manager.io/duration kubernetes.io/ingress.class owner`,
		"Service":                 "prometheus.io/scrape service.beta.kubernetes.io/aws-load-balancer-internal networking.gke.io/load-balancer-type team",
		"ServiceAccount":          "example.com/role description eks.amazonaws.com/role-arn iam.gke.io/gcp-service-account azure.workload.identity/client-id",
		"Pod":                     "dapr.io/enabled vault.hashicorp.com/agent-inject gke-gcsfuse/volumes prometheus.io/port storage/size checksum/config kubectl.kubernetes.io/restartedAt app.example.com/restarted-at app.example.com/config-checksum",
		"Deployment":              "argocd.argoproj.io/sync-wave cost-estimator.kpt.io/monthly-cost reloader.stakater.com/auto kubernetes.io/change-cause app.example.com/reload-on-change",
		"PersistentVolumeClaim":   "helm.sh/resource-policy app.example.com/retained-for",
		"HorizontalPodAutoscaler": "validations.keda.sh/hpa-ownership meta.helm.sh/release-name",
	} {
		for key := range strings.FieldsSeq(keys) {
			t.Run(kind+" "+key, func(t *testing.T) {
				assert.NoError(t, Default().For("demo", nil).Check([]*unstructured.Unstructured{annotatedAs(t, kind, key)}))
			})
		}
	}
}

// Values of public manifests, and of the documentation of controllers.
func TestValuesThatPeopleUseAreAllowed(t *testing.T) {
	for key, values := range map[string][]string{
		"nginx.ingress.kubernetes.io/rewrite-target":         {"/", "/$1", "/$2", "/api/$1", "/index.php?path=$1&x=%20", "/app/v1.0_a-b~"},
		"nginx.ingress.kubernetes.io/proxy-cookie-path":      {"/one/ /", "/ /two"},
		"nginx.ingress.kubernetes.io/proxy-body-size":        {"8m", "0"},
		"nginx.ingress.kubernetes.io/cors-allow-origin":      {"https://*.example.com, https://example.org:8080"},
		"nginx.ingress.kubernetes.io/cors-allow-headers":     {"DNT,X-CustomHeader,Keep-Alive"},
		"nginx.ingress.kubernetes.io/whitelist-source-range": {"10.0.0.0/24,172.10.0.1"},
		"nginx.ingress.kubernetes.io/custom-http-errors":     {"404,503"},
		"nginx.ingress.kubernetes.io/x-forwarded-prefix":     {"/path"},
		"traefik.ingress.kubernetes.io/router.entrypoints":   {"web", "web, websecure"},
		"traefik.ingress.kubernetes.io/router.middlewares":   {"demo-auth@kubernetescrd", "demo-auth@kubernetescrd, demo-a.b@kubernetescrd"},
		"alb.ingress.kubernetes.io/actions.ssl-redirect":     {`{"Type": "redirect", "RedirectConfig": {"Protocol": "HTTPS", "Port": "443", "StatusCode": "HTTP_301"}}`},
		"alb.ingress.kubernetes.io/load-balancer-attributes": {"idle_timeout.timeout_seconds=600"},
		"alb.ingress.kubernetes.io/tags":                     {"Environment=dev,Team=test", "cost center=a.b-c"},
		"haproxy.org/path-rewrite":                           {"/", `/foo/(.*) /\1`},
	} {
		for _, value := range values {
			t.Run(key+" "+value, func(t *testing.T) {
				of := annotatedAs(t, "Ingress", key)
				of.SetNamespace("demo")
				require.NoError(t, unstructured.SetNestedField(of.Object, value, "metadata", "annotations", key))
				assert.NoError(t, Default().For("demo", nil).Check([]*unstructured.Unstructured{of}))
			})
		}
	}
}

// Controllers find load balancers by tags whose keys have a prefix.
func TestATagIsNoneOfAController(t *testing.T) {
	rules := Default().For("demo", nil)
	for _, value := range []string{"elbv2.k8s.aws/cluster=other", "a=b,ingress.k8s.aws/stack=other/web", "aws:x=y", "kubernetes.io/cluster/other=owned", "KubernetesCluster=other", "a=b,kubernetescluster=other"} {
		assert.False(t, rules.allows("demo", "alb.ingress.kubernetes.io/tags", value, rules.Annotations["*"], rules.Annotations["Ingress"]), value)
	}
}

// Nothing that nginx would take for its own gets into its configuration.
func TestNoValueLeavesItsPlaceInAConfiguration(t *testing.T) {
	rules := Default().For("demo", nil)
	for _, pattern := range rules.Annotations["Ingress"] {
		key, _, _ := strings.Cut(strings.ReplaceAll(pattern, "*", "x"), valued)
		if prefix, _, _ := strings.Cut(key, "/"); !slices.Contains([]string{"nginx.ingress.kubernetes.io", "nginx.org", "ingress.kubernetes.io", "haproxy.org", "haproxy-ingress.github.io"}, prefix) {
			continue
		}
		for _, value := range []string{"a\nb", "a\r", "{", "}", ";", `"`, "'", "#", "/$1\" break; } location /pwn { return 200 \"x"} {
			if rules.allows("demo", key, value, rules.Annotations["*"], rules.Annotations["Ingress"]) {
				t.Errorf("%s may be %q", key, value)
			}
		}
	}
}

func TestNamesInDNSBelowGrantedHosts(t *testing.T) {
	rules := rulesOf(t, "namespaces: [{names: [demo], hosts: [shop.example.com, '*.a.example.com']}]", "demo", nil)
	for value, want := range map[string]bool{
		"shop.example.com": true, "shop.example.com, x.a.example.com": true, "shop.example.com,www.example.com": false, "": false, "*.a.example.com": true, "*.example.com": false,
	} {
		for _, key := range []string{"external-dns.alpha.kubernetes.io/hostname", "cert-manager.io/alt-names"} {
			if got := rules.allows("demo", key, value, rules.Annotations["*"], rules.Annotations["Ingress"]); got != want {
				t.Errorf("%s %q: got %t", key, value, got)
			}
		}
	}
}

// Whatever a platform allows, what operator and chart write themselves does not depend on it.
func TestWhatTheOperatorWritesPassesEveryPolicy(t *testing.T) {
	nothing := rulesOf(t, `default: {annotations: {"*": [], Pod: [], PersistentVolumeClaim: [], HorizontalPodAutoscaler: []}}`, "demo", nil)
	for kind, key := range map[string]string{
		"Pod": "app.example.com/config-checksum", "Deployment": "app.example.com/rendered", "PersistentVolumeClaim": "helm.sh/resource-policy",
		"HorizontalPodAutoscaler": "validations.keda.sh/hpa-ownership", "Service": "meta.helm.sh/release-name",
	} {
		assert.NoError(t, nothing.Check([]*unstructured.Unstructured{annotatedAs(t, kind, key)}))
	}
}

func TestAMessageSaysWhichAnnotationsAreAllowed(t *testing.T) {
	rules := rulesOf(t, "default: {annotations: {Service: [metallb.io/loadBalancerIPs]}}", "demo", nil)
	err := rules.Check([]*unstructured.Unstructured{annotatedAs(t, "Service", "metallb.io/address-pool")})
	want := `violates the platform's policy: Service "web": annotation metallb.io/address-pool: annotations.Service allows of these loadBalancerIPs (default of policy.yaml, over the built-in policy shared); allow it by - {names: [NAMESPACE], annotations: {Service: [+, metallb.io/address-pool]}}`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

package policy

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// BenchmarkFor is what each reconcile asks, of a policy with a hundred entries.
func BenchmarkFor(b *testing.B) {
	text := "namespaces:\n"
	for i := range 100 {
		text += fmt.Sprintf("- {names: [team-%d-*], maxReplicas: %d}\n", i, i)
	}
	read, err := Read("policy.yaml", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		read.For("team-50-web", nil)
	}
}

// BenchmarkCheck is what each render costs: an Ingress, a Service and pods with annotations.
func BenchmarkCheck(b *testing.B) {
	rules := Default().For("demo", nil)
	b.ReportAllocs()
	for b.Loop() {
		if err := rules.Check(typical); err != nil {
			b.Fatal(err)
		}
	}
}

// typical are the objects of an application with most features.
var typical = []*unstructured.Unstructured{
	typicalObject("v1", "ServiceAccount", nil),
	typicalObject("v1", "ConfigMap", nil),
	typicalObject("v1", "Service", map[string]any{"type": "ClusterIP", "ports": []any{map[string]any{"port": int64(80)}}}),
	typicalObject("apps/v1", "Deployment", map[string]any{
		"replicas": int64(3),
		"template": map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"prometheus.io/scrape": "true", "app.example.com/config-checksum": "0"}},
			"spec": map[string]any{
				"containers": []any{
					map[string]any{"name": "app", "image": "nginx:1.29", "env": []any{map[string]any{"name": "A", "value": "b"}}},
					map[string]any{"name": "side", "image": "ghcr.io/acme/side:1"},
				},
				"volumes": []any{
					map[string]any{"name": "a", "emptyDir": map[string]any{}},
					map[string]any{"name": "b", "configMap": map[string]any{"name": "b"}},
				},
				"tolerations": []any{map[string]any{"key": "example.com/spot", "operator": "Exists"}},
			},
		},
	}),
	typicalObject("policy/v1", "PodDisruptionBudget", map[string]any{"maxUnavailable": int64(1)}),
	typicalObject("networking.k8s.io/v1", "Ingress", map[string]any{"ingressClassName": "nginx"}),
}

func typicalObject(version, kind string, spec map[string]any) *unstructured.Unstructured {
	object := map[string]any{
		"apiVersion": version, "kind": kind,
		"metadata": map[string]any{"name": "web", "namespace": "demo", "annotations": map[string]any{"app.example.com/rendered": "0", "team": "shop"}},
	}
	if kind == "Ingress" {
		object["metadata"].(map[string]any)["annotations"] = map[string]any{
			"nginx.ingress.kubernetes.io/proxy-body-size": "8m", "nginx.ingress.kubernetes.io/ssl-redirect": "true", "cert-manager.io/cluster-issuer": "letsencrypt",
		}
	}
	if spec != nil {
		object["spec"] = spec
	}
	return &unstructured.Unstructured{Object: object}
}

package policy

import (
	"errors"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// FuzzRead: whatever stands in a policy file, each mistake has its line, or it says the same of hosts and objects each time it is read; and
// what it refuses, it names in one line.
func FuzzRead(f *testing.F) {
	shipped, err := os.ReadFile("shared.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(shipped), "a.example.com")
	for _, text := range []string{
		"", "default: {maxReplicas: 1}", "namespaces: [{names: [a*, b], hosts: ['*.example.com', '!a.example.com'], selector: {matchLabels: {a: b}}}]",
		"default: &a {hosts: [a]}\nnamespaces: [*a]", "default: &a {annotations: *a}", "default: {annotations: {Pod: ['*a*a*a*a*a*a*b'], '*': []}}", "namespaces: [{selector: {}}]",
		"default: {nodePorts: [30000-30010, 1-0], externalIPs: [192.0.2.0/24], registries: [ghcr.io/*], requireDigests: true, maxStorage: 1e3}", "default: {hosts: [a, a]}\ndefault: {}",
		"default: {volumeTypes: ['*'], priorityClasses: [\"\"], tolerations: [a=b:NoSchedule], nodeNames: true, serviceTypes: [NodePort], podTemplate: false}",
	} {
		f.Add(text, "a.example.com")
	}
	objects := func() []*unstructured.Unstructured {
		pod := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac": "b"}}, "spec": map[string]any{
			"containers": []any{map[string]any{"name": "app", "image": "docker.io/a:1"}}, "volumes": []any{map[string]any{"name": "a", "nfs": map[string]any{"server": "b", "path": "/"}}},
			"priorityClassName": "a", "tolerations": []any{map[string]any{"operator": "Exists"}},
		}}
		return []*unstructured.Unstructured{
			{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": "a"}, "spec": map[string]any{"replicas": int64(9), "template": pod}}},
			{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"type": "NodePort", "ports": []any{map[string]any{"port": int64(80), "nodePort": int64(30001)}}}}},
		}
	}
	f.Fuzz(func(t *testing.T, text, host string) {
		if len(text) > 1<<16 {
			return
		}
		first, err := Read("policy.yaml", []byte(text))
		if err != nil {
			var problems fields.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got %T: %v", err, err)
			}
			for _, problem := range problems {
				if problem.Line < 1 || strings.TrimSpace(problem.Text) == "" {
					t.Errorf("got %+v", problem)
				}
			}
			return
		}
		second, err := Read("policy.yaml", []byte(text))
		if err != nil {
			t.Fatalf("read twice, it is refused: %v", err)
		}
		labels := map[string]string{"a": "b"}
		one, two := first.For("a", labels), second.For("a", labels)
		mayOne, why := one.MayUse(host)
		if mayTwo, again := two.MayUse(host); mayOne != mayTwo || why != again {
			t.Errorf("of %q it says %t, %s, then %t, %s", host, mayOne, why, mayTwo, again)
		}
		refused, same := one.Check(objects()), two.Check(objects())
		if (refused == nil) != (same == nil) || refused != nil && (refused.Error() != same.Error() || strings.Contains(refused.Error(), "\n")) {
			t.Errorf("got %q, then %q", refused, same)
		}
	})
}

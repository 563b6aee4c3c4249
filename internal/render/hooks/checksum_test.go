package hooks

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAChecksumOfASecretIsReplaced(t *testing.T) {
	secret := func(name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}}
	}
	workload := func(kind string, annotations map[string]any, refers any) map[string]any {
		return map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": "web"}, "spec": map[string]any{
			"template": map[string]any{"metadata": map[string]any{"annotations": annotations}, "spec": map[string]any{"containers": []any{
				map[string]any{"name": "app", "envFrom": []any{refers}},
			}}},
		}}
	}
	const sum = "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b"
	checksum := map[string]any{AnnotationChecksum: sum}
	takes := func(kind, name string) any { return map[string]any{kind: map[string]any{"name": name}} }
	for name, test := range map[string]struct {
		objects []map[string]any
		version string // that is known
		becomes string
		without bool // any configuration
	}{
		"of a rendered Secret":         {[]map[string]any{secret("a"), workload("Deployment", checksum, takes("secretRef", "a"))}, "v1", "v1", false},
		"of replicas":                  {[]map[string]any{secret("a"), workload("StatefulSet", checksum, takes("secretRef", "a"))}, "v1", "v1", false},
		"the version is not known":     {[]map[string]any{secret("a"), workload("Deployment", checksum, takes("secretRef", "a"))}, "", sum, false},
		"of a ConfigMap":               {[]map[string]any{secret("a"), workload("Deployment", checksum, takes("configMapRef", "a"))}, "v1", sum, true},
		"of somebody else's Secret":    {[]map[string]any{secret("b"), workload("Deployment", checksum, takes("secretRef", "a"))}, "v1", sum, true},
		"there is no Secret":           {[]map[string]any{workload("Deployment", checksum, takes("secretRef", "a"))}, "v1", sum, true},
		"pods that have no annotation": {[]map[string]any{secret("a"), workload("Deployment", nil, takes("secretRef", "a"))}, "v1", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []*unstructured.Unstructured
			for _, content := range test.objects {
				objects = append(objects, (&unstructured.Unstructured{Object: content}).DeepCopy())
			}
			configuration := ConfigurationOf(objects)
			require.NoError(t, Checksum(t.Context(), &Input{Facts: Facts{Configuration: test.version}}, objects))
			got, _, _ := unstructured.NestedString(objects[len(objects)-1].Object, "spec", "template", "metadata", "annotations", AnnotationChecksum)
			require.Equal(t, test.becomes, got)
			require.Equal(t, test.without, configuration == "")
		})
	}
}

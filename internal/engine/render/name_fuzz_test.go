package render

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// FuzzName: whatever a resource and what belongs to it are called, it is refused, or all names and labels are ones that Kubernetes takes, and
// no two objects have the same.
func FuzzName(f *testing.F) {
	for _, name := range []string{"web", "a", "web-config", "0", "a.b", strings.Repeat("a", 53), strings.Repeat("a", 63), strings.Repeat("a-", 126) + "a"} {
		f.Add(name, name, name)
	}
	renderer := unguarded(f)
	f.Fuzz(func(t *testing.T, name, port, volume string) {
		if len(validation.IsDNS1123Subdomain(name)) > 0 || len(validation.IsValidPortName(port)) > 0 || len(validation.IsDNS1123Label(volume)) > 0 {
			return // the API server takes no others
		}
		resource := appService(t, `{image: a, ports: [{port: 80}], config: {environment: {A: b}, files: {c: d}, databaseUrl: e}, persistence: {size: 1Gi, mountPath: /f},
			volumes: [{emptyDir: {}}], ingress: {hosts: [{host: g}]}, networkPolicy: {enabled: true}, autoscaling: {maxReplicas: 2}, serviceAccount: {create: true}, monitoring: {enabled: true}}`)
		resource.SetName(name)
		for path, text := range map[string]string{"ports": port, "volumes": volume} {
			list, _, _ := unstructured.NestedSlice(resource.Object, "spec", path)
			list[0].(map[string]any)["name"] = text
			_ = unstructured.SetNestedSlice(resource.Object, list, "spec", path)
		}
		result, err := renderer.Render(t.Context(), resource, everyKind)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
			return
		}
		for _, object := range result.Objects {
			if problems := validation.IsDNS1123Subdomain(object.GetName()); len(problems) > 0 {
				t.Errorf("%s cannot have that name: %v", kube.KeyOf(object), problems)
			}
			for key, value := range object.GetLabels() {
				if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(problems) > 0 {
					t.Errorf("%s cannot have label %s=%s: %v", kube.KeyOf(object), key, value, problems)
				}
			}
		}
	})
}

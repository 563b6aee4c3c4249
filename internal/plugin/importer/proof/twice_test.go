package proof

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestNoEntryHidesAnother loses the second of two entries with one key, in each list that is read by a key.
func TestNoEntryHidesAnother(t *testing.T) {
	t.Parallel()
	const (
		pod     = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: %}}\n"
		service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: %}\n"
		ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: %\n"
	)
	backend := func(service string) string {
		return "{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: " + service + ", port: {number: 80}}}}]}}"
	}
	for name, test := range map[string]struct{ object, both, one string }{
		"ports":        {pod, "{containers: [{name: a, ports: [{name: http, containerPort: 80}, {name: metrics, containerPort: 80}]}]}", "{containers: [{name: a, ports: [{name: http, containerPort: 80}]}]}"},
		"no name":      {pod, "{containers: [{name: a, ports: [{containerPort: 80}, {hostPort: 1, containerPort: 80}]}]}", "{containers: [{name: a, ports: [{containerPort: 80}]}]}"},
		"containers":   {pod, "{containers: [{name: a, image: a}, {name: a, image: b}]}", "{containers: [{name: a, image: a}]}"},
		"mounts":       {pod, "{containers: [{name: a, volumeMounts: [{name: a, mountPath: /a}, {name: b, mountPath: /a/}]}]}", "{containers: [{name: a, volumeMounts: [{name: a, mountPath: /a}]}]}"},
		"a hosts file": {pod, "{hostAliases: [{ip: 192.0.2.1, hostnames: [a]}, {ip: 192.0.2.1, hostnames: [b]}]}", "{hostAliases: [{ip: 192.0.2.1, hostnames: [a]}]}"},
		"variables":    {pod, "{containers: [{name: a, env: [{name: A, value: '1'}, {name: B, value: $(A)2}, {name: A, value: '3'}]}]}", "{containers: [{name: a, env: [{name: B, value: $(A)2}, {name: A, value: '3'}]}]}"},
		"its own":      {pod, "{containers: [{name: a, env: [{name: A, value: '1'}, {name: A, value: $(A)2}]}]}", "{containers: [{name: a, env: [{name: A, value: $(A)2}]}]}"},
		"Service":      {service, "[{port: 80, targetPort: 1}, {port: 80, targetPort: 2}]", "[{port: 80, targetPort: 1}]"},
		"rules":        {ingress, "{rules: [" + backend("a") + ", " + backend("b") + "]}", "{rules: [" + backend("a") + "]}"},
		"certificates": {ingress, "{tls: [{hosts: [a], secretName: a}, {hosts: [a], secretName: b}]}", "{tls: [{hosts: [a], secretName: a}]}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			side := func(spec string) Side {
				object := map[string]any{}
				require.NoError(t, yaml.Unmarshal([]byte(strings.Replace(test.object, "%", spec, 1)), &object))
				return Side{Objects: []*unstructured.Unstructured{{Object: object}}}
			}
			require.Len(t, Differences(side(test.both), side(test.one)), 1)
			require.Empty(t, Differences(side(test.both), side(test.both)))
		})
	}
}

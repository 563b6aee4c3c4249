package postrender

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestOwnership(t *testing.T) {
	const added = `
  namespace: shop
  ownerReferences:
  - {apiVersion: app.example.com/v1, kind: AppService, name: web, uid: 6a3c, controller: true, blockOwnerDeletion: true}
  name: web
`
	const helm = `  labels: {app.kubernetes.io/managed-by: Helm}
  annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: shop}
`
	cases := map[string]struct{ in, want string }{
		"an object without metadata of its own": {
			"{apiVersion: v1, kind: Service, metadata: {name: web}}",
			"apiVersion: v1\nkind: Service\nmetadata:" + added + helm,
		},
		"an object with labels and annotations": {
			"{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop, labels: {a: b}, annotations: {c: d}}}",
			"apiVersion: v1\nkind: Service\nmetadata:" + added + `  labels: {a: b, app.kubernetes.io/managed-by: Helm}
  annotations: {c: d, meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: shop}
`,
		},
		"an object that claims to be another's": {
			`
apiVersion: v1
kind: Service
metadata:
  name: web
  labels: {app.kubernetes.io/managed-by: Someone}
  annotations: {meta.helm.sh/release-name: other, meta.helm.sh/release-namespace: other}
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: other, uid: x, controller: true}]
`,
			"apiVersion: v1\nkind: Service\nmetadata:" + added + helm,
		},
		"an object of a kind of its own": {
			"{apiVersion: example.com/v1, kind: Widget, metadata: {name: web}, spec: {template: {metadata: {}}}}",
			"apiVersion: example.com/v1\nkind: Widget\nspec: {template: {metadata: {}}}\nmetadata:" + added + helm,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, parse(t, tc.in), Ownership)
			assert.Equal(t, asJSON(t, parse(t, tc.want).Object), asJSON(t, got.Object))
		})
	}
}

func TestAnObjectInAnotherNamespaceIsRefused(t *testing.T) {
	object := parse(t, "{apiVersion: v1, kind: Service, metadata: {name: admin, namespace: kube-system}}")
	err := Ownership(t.Context(), &Input{Owner: owner(t)}, []*unstructured.Unstructured{parse(t, deployment), object})
	require.Error(t, err, "it was accepted")
	for _, part := range []string{`Service "admin"`, `"kube-system"`, "metadata.namespace"} {
		assert.ErrorContains(t, err, part)
	}
}

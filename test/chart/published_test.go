//go:build cluster

package chart

import (
	"fmt"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/files"
)

// lighthouse is a chart of others, who do not know this operator.
var lighthouse = map[string]string{
	"Chart.yaml": "{apiVersion: v2, name: light-house, version: 1.2.3, description: A light that everybody wants to see.}\n",
	"values.yaml": `# How many lights there are.
lights: 1
image: {repository: nginx, tag: "1.29"}
annotations: {says: "{{ .Release.Name }} of {{ .Values.image.tag }}"}
fog: {enabled: false}
crds: {install: false}
`,
	"templates/all.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  annotations: {{ tpl (toYaml .Values.annotations) . | nindent 4 }}
spec:
  replicas: {{ .Values.lights }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      serviceAccountName: {{ .Release.Name }}
      containers: [{name: light, image: {{ .Values.image.repository }}:{{ .Values.image.tag }}}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: {{ .Release.Name }}}
rules: [{apiGroups: [""], resources: [endpoints], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: {{ .Release.Name }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ .Release.Name }}}
subjects: [{kind: ServiceAccount, name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}]
{{- if .Values.fog.enabled }}
---
apiVersion: example.com/v1
kind: Horn
metadata: {name: {{ .Release.Name }}}
{{- end }}
`,
	"crds/horn.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: hoots.example.com}\n" +
		"spec: {group: example.com, scope: Namespaced, names: {kind: Horn, plural: hoots}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n",
}

// TestAChartOfOthersNeedsNoGo makes a kind of a chart of others, and has this operator serve it. All checks of the repository pass with it.
func TestAChartOfOthersNeedsNoGo(t *testing.T) {
	r, folder := copyOfRepository(t), t.TempDir()
	for name, text := range lighthouse {
		files.Write(t, filepath.Join(folder, name), text)
	}
	r.run(t, "make kind FROM="+folder)
	r.run(t, "make generate golden bundle lint-chart && go run ./tools/cmd/wording helm-charts config watches.yaml")
	r.has(t, map[string][]string{
		"watches.yaml": {"  kind: LightHouse\n  chart: helm-charts/light-house\n  from: published\n", "  # with fog.enabled: true\n  - Horn.example.com\n", "    resources: [endpoints]\n"},
		"config/crd/bases/app.example.com_lighthouses.yaml":   {"description: How many lights there are.\n", `jsonPath: .status.conditions[?(@.type=="Ready")].reason`},
		"config/crd/published/light-house.yaml":               {"kind: Horn\n"},
		"config/crd/kustomization.yaml":                       {"- bases/app.example.com_lighthouses.yaml\n"},
		"config/rbac/role.yaml":                               {"lighthouses]\n"},
		"config/rights/lighthouse/kustomization.yaml":         {"resources: [hoots]\n", "resources: [rolebindings, roles]\n", "resources: [endpoints]\n        verbs: [get]\n"},
		"config/chart/values.yaml":                            {"  lighthouse: false # what the chart light-house takes\n"},
		"test/testdata/kinds/light-house/minimal/golden.yaml": {"says: minimal of 1.29\n"},
		"bundle/manifests/app.example.com_lighthouses.yaml":   {"kind: LightHouse\n"},
		"docs/recipes.md":                                     {"### LightHouse\n"},
	})
	r.neededNoGo(t)
	cluster, sample := isServed(t, r, "config/crd/bases/app.example.com_lighthouses.yaml", "config/samples/app_v1_lighthouse.yaml")
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"lights":2,"image":{"tag":"1.30"}}}`))
	cluster.Patch(t, sample, patch)
	deployment := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
	deployment.SetNamespace(sample.GetNamespace())
	deployment.SetName(sample.GetName())
	cluster.Becomes(t, "the Deployment has the new values", deployment, func() error {
		replicas, _, err := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
		says := deployment.GetAnnotations()["says"]
		if err == nil && (replicas != 2 || says != sample.GetName()+" of 1.30") {
			return fmt.Errorf("it has %d replicas and says %q", replicas, says)
		}
		return err
	})
	r.run(t, "go test -count=1 ./internal/engine/chart/... ./internal/plugin/importer/... ./internal/operator ./internal/engine/render ./test/admission ./test/granted ./test/packaging ./tools/kinds")
}

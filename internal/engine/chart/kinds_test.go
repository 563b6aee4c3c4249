package chart

import (
	"maps"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKinds(t *testing.T) {
	var (
		service    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
		deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
		widget     = schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "Widget"}
	)
	cases := map[string]struct {
		template string
		want     []schema.GroupVersionKind
	}{
		"nothing":                          {"", nil},
		"one document":                     {"apiVersion: v1\nkind: Service\n", []schema.GroupVersionKind{service}},
		"several documents, sorted":        {"apiVersion: example.com/v1beta1\nkind: Widget\n---\napiVersion: v1\nkind: Service\n---\nkind: Deployment\napiVersion: apps/v1\n", []schema.GroupVersionKind{service, deployment, widget}},
		"one kind twice":                   {"apiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Service\n", []schema.GroupVersionKind{service}},
		"a kind between templated ones":    {"apiVersion: apps/v1\nkind: {{ .Values.kind }}\n---\napiVersion: v1\nkind: Service\n---\napiVersion: {{ .Values.version }}\nkind: Widget\n", []schema.GroupVersionKind{service}},
		"a kind with a templated end":      {"apiVersion: apps/v1\nkind: Deployment{{ .Values.suffix }}\n", nil},
		"quotes and line ends of any sort": {"apiVersion: \"v1\"\r\nkind: 'Service'\r\n", []schema.GroupVersionKind{service}},
		"kinds within objects": {"apiVersion: apps/v1\nkind: Deployment\nspec:\n  target:\n    apiVersion: v1\n    kind: Service\n",
			[]schema.GroupVersionKind{deployment}},
		"claims that a workload makes": {"apiVersion: v1\nkind: Service\n---\napiVersion: apps/v1\nkind: Deployment\nspec:\n  volumeClaimTemplates:\n  - metadata: {}\n",
			[]schema.GroupVersionKind{claim, service, deployment}},
		"two versions of a kind, one of which is rendered": {
			"{{- if .Values.new }}\napiVersion: apps/v1\n{{- else }}\napiVersion: apps/v1beta2\n{{- end }}\nkind: Deployment\n",
			[]schema.GroupVersionKind{deployment}},
		"two kinds, one of which is rendered": {
			"{{- if .Values.stateless }}\napiVersion: apps/v1\nkind: Deployment\n{{- else }}\napiVersion: example.com/v1beta1\nkind: Widget\n{{- end }}\n",
			[]schema.GroupVersionKind{deployment, widget}},
		"a templated kind or a kind in so many words, one of which is rendered": {
			"{{- if .Values.kind }}\napiVersion: apps/v1\nkind: {{ .Values.kind }}\n{{- else }}\napiVersion: example.com/v1beta1\nkind: Widget\n{{- end }}\n",
			[]schema.GroupVersionKind{widget}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &chart.Chart{Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(tc.template)}}}
			got := Kinds(c)
			if len(got) != len(tc.want) || len(got) > 0 && !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestKindsOfSubchartsCount(t *testing.T) {
	files := minimal()
	maps.Copy(files, subchart("sub"))
	want := []schema.GroupVersionKind{{Version: "v1", Kind: "Pod"}, {Version: "v1", Kind: "Service"}}
	web := load(t, memory("web", files), "web")
	assert.Equal(t, want, Kinds(web))
	if got := Templates(web)[want[0]]; got != "charts/sub/templates/pods.yaml" {
		t.Errorf("the Pod is in %s", got)
	}
}

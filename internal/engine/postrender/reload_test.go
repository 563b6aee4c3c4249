package postrender

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

func templateAnnotations(object *unstructured.Unstructured) map[string]string {
	annotations, _, _ := unstructured.NestedStringMap(reference.PodTemplate(object), "metadata", "annotations")
	return annotations
}

func TestReload(t *testing.T) {
	settings := reference.Object{Kind: reference.ConfigMap, Name: "settings"}
	refers := []reference.Reference{{Object: settings, Content: true}}
	cases := map[string]struct {
		asks       string
		references []reference.Reference
		content    string
		want       string
	}{
		"it asks and refers":       {"true", refers, "v", "v"},
		"it does not ask":          {"", refers, "v", ""},
		"it asks not to":           {"false", refers, "v", ""},
		"it refers to nothing":     {"true", nil, "", ""},
		"it refers to no content":  {"true", []reference.Reference{{Object: settings}}, "", ""},
		"the cluster is not known": {"true", refers, "", unknownContent},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			object := pods(t, "{containers: []}")
			object.SetAnnotations(map[string]string{v1.AnnotationReload: test.asks})
			service := parse(t, "{apiVersion: v1, kind: Service, metadata: {name: web, annotations: {"+v1.AnnotationReload+`: "true"}}}`)
			in := &Input{References: test.references, Facts: Facts{Content: test.content}}
			require.NoError(t, Reload(t.Context(), in, []*unstructured.Unstructured{service, object}))
			assert.Equal(t, test.want, templateAnnotations(object)[AnnotationReferences])
		})
	}
}

func TestRestartPassesTheAnnotationOnToPods(t *testing.T) {
	for name, value := range map[string]string{"set": "2026-01-01", "not set": ""} {
		t.Run(name, func(t *testing.T) {
			in := owner(t)
			if value != "" {
				in.SetAnnotations(map[string]string{v1.AnnotationRestartedAt: value})
			}
			object := parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {metadata: {annotations: {mine: stays}}}}}")
			require.NoError(t, Restart(t.Context(), &Input{Owner: in}, []*unstructured.Unstructured{object}))
			annotations := templateAnnotations(object)
			if annotations[v1.AnnotationRestartedAt] != value || annotations["mine"] != "stays" {
				t.Errorf("got %v", annotations)
			}
		})
	}
}

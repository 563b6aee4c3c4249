package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/test/bench/load"
)

// TestObjectsAreThoseOfTheChart compares with what the operator renders, without the operator's own metadata.
func TestObjectsAreThoseOfTheChart(t *testing.T) {
	resource := load.AppService(v1.GroupVersion, "shop", "web", 0)
	resource.SetUID("11111111-2222-3333-4444-555555555555")
	app := &v1.AppService{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(resource.Object, app))
	want := map[string]map[string]any{}
	for _, object := range rendered(t, resource) {
		unmark(object)
		want[object.GetKind()] = typed(t, object)
	}
	got := map[string]map[string]any{
		"Deployment": generic(t, Deployment(app)), "Service": generic(t, Service(app)), "Ingress": generic(t, Ingress(app)),
	}
	assert.Empty(t, cmp.Diff(want, got), "-chart +Go")
}

func rendered(t *testing.T, resource *unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	c, err := chart.Load(appservice.Files, "helm-charts/appservice")
	require.NoError(t, err)
	renderer := &render.Renderer{Chart: c, Translator: values.For(v1.GroupVersion.WithKind(v1.Kind), c, nil), Hooks: postrender.Default()}
	result, err := renderer.Render(t.Context(), resource, chartutil.DefaultCapabilities)
	require.NoError(t, err)
	return result.Objects
}

// unmark removes the metadata that the operator and Helm add to objects.
func unmark(object *unstructured.Unstructured) {
	annotations := object.GetAnnotations()
	for _, key := range []string{postrender.AnnotationStamp, "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"} {
		delete(annotations, key)
	}
	object.SetAnnotations(annotations)
	labels := object.GetLabels()
	delete(labels, v1.LabelManaged)
	object.SetLabels(labels)
}

// typed converts an object to its Go type.
func typed(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	out, err := scheme.Scheme.New(object.GroupVersionKind())
	require.NoError(t, err)
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, out))
	return generic(t, out.(client.Object))
}

func generic(t *testing.T, object client.Object) map[string]any {
	t.Helper()
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(t, err)
	delete(out, "kind")
	delete(out, "apiVersion")
	delete(out, "status")
	return out
}

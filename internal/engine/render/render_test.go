package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/values"
)

// cases holds a folder for each golden case.
const cases = "../../../test/testdata/cases"

var load = sync.OnceValues(func() (*chart.Chart, error) {
	return appchart.Load(appservice.Files, "helm-charts/appservice")
})

// shipped renders AppServices as the operator does. Its chart may be given other metadata.
func shipped(t testing.TB) *Renderer {
	t.Helper()
	loaded, err := load()
	require.NoError(t, err)
	own, metadata := *loaded, *loaded.Metadata
	c := &own
	c.Metadata = &metadata
	return &Renderer{Chart: c, Translator: values.For(v1.GroupVersion.WithKind(v1.Kind), c, nil), Hooks: postrender.Default()}
}

// unguarded renders AppServices without looking at what their pods may do.
func unguarded(t testing.TB) *Renderer {
	t.Helper()
	renderer := shipped(t)
	renderer.Chart.Metadata.Annotations = map[string]string{appchart.AnnotationPodSecurity: string(postrender.Privileged)}
	return renderer
}

// widget is a kind whose spec is passed unchanged.
var widget = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// of renders widgets with the given templates.
func of(templates map[string]string) *Renderer {
	c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "widget", Version: "1.0.0"}}
	for name, text := range templates {
		c.Templates = append(c.Templates, &chart.File{Name: "templates/" + name, Data: []byte(text)})
	}
	return &Renderer{Chart: c, Translator: values.For(widget, c, nil), Hooks: postrender.Default()}
}

// parse reads YAML as a client of the API server reads JSON: whole numbers are int64.
func parsedObject(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(data, &object.Object))
	return object
}

// resource is a resource of a kind, named web, as the API server hands it out.
func resource(t testing.TB, kind schema.GroupVersionKind, spec string) *unstructured.Unstructured {
	t.Helper()
	object := parsedObject(t, "metadata: {name: web}\nspec: "+spec)
	object.SetGroupVersionKind(kind)
	stored(object)
	return object
}

func appService(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return resource(t, v1.GroupVersion.WithKind(v1.Kind), spec)
}

// stored gives a resource what the API server would.
func stored(object *unstructured.Unstructured) {
	object.SetNamespace("shop")
	object.SetUID("11111111-2222-3333-4444-555555555555")
}

// golden is the resource of a golden case.
func golden(t testing.TB, name string) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cases, name, "cr.yaml"))
	require.NoError(t, err)
	object := parsedObject(t, string(text))
	stored(object)
	return object
}

// everyKind are the capabilities of a cluster that serves what the shipped chart and the tests' own render.
var everyKind = serving("gateway.networking.k8s.io/v1/HTTPRoute", "gateway.networking.k8s.io/v1/GRPCRoute", "gateway.networking.k8s.io/v1/ListenerSet",
	"monitoring.coreos.com/v1/ServiceMonitor", "keda.sh/v1alpha1/ScaledObject",
	"example.com/v1/Part", "example.com/v2/Part", "example.com/v1/Service")

func serving(kinds ...string) *chartutil.Capabilities {
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.APIVersions = slices.Concat(capabilities.APIVersions, kinds)
	return capabilities
}

func rendered(t testing.TB, r *Renderer, object *unstructured.Unstructured) *Result {
	t.Helper()
	result, err := r.Render(t.Context(), object, everyKind)
	require.NoError(t, err)
	return result
}

// unlimited is what templates and hooks make of a resource that is too large for the operator.
func unlimited(t testing.TB, r *Renderer, object *unstructured.Unstructured) *Result {
	t.Helper()
	draft, err := r.draft(t.Context(), Input{Resource: object, Capabilities: everyKind}, nil)
	require.NoError(t, err)
	result, err := r.finish(t.Context(), draft, postrender.Facts{})
	require.NoError(t, err)
	return result
}

// find is the one object of a kind and name.
func find(t testing.TB, result *Result, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range result.Objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("there is no %s %q", kind, name)
	return nil
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	data, err := json.MarshalIndent(value, "", " ")
	require.NoError(t, err)
	return string(data)
}

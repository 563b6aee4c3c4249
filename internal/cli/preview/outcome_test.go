package preview

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube/livestate"
	"github.com/example/appservice-operator/internal/kube/reference"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/render/hooks"
)

// A release of an earlier operator, which shows the checksum of a password, stays until something else changes.
func TestWhatFollowsAReleaseThatShowsAChecksum(t *testing.T) {
	charts, err := LoadCharts(appservice.Files)
	require.NoError(t, err)
	renderer := charts.Renderers[v1.GroupVersion.WithKind(v1.Kind)]
	input := func(image string) render.Input {
		resource := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind, "metadata": map[string]any{"name": "web", "namespace": "shop", "uid": "a"},
			"spec": map[string]any{"image": image, "config": map[string]any{"databaseUrl": "postgres://web:summer2026@db"}},
		}}
		return render.Input{Resource: resource, Capabilities: render.Serving(renderer.Chart)}
	}
	nothing := func(context.Context, *render.Draft) (hooks.Facts, error) { return hooks.Facts{}, nil }
	shown := func(result *render.Result) string {
		for _, object := range result.Objects {
			if object.GetKind() == "Deployment" {
				text, _, _ := unstructured.NestedString(object.Object, "spec", "template", "metadata", "annotations", hooks.AnnotationChecksum)
				return text
			}
		}
		return ""
	}
	earlier, err := renderer.Predict(t.Context(), input("nginx:1.27"), nothing)
	require.NoError(t, err)
	last := &Release{Digest: earlier.Digest, as: &livestate.Record{UID: "one"}}

	same, err := predict(t.Context(), renderer, input("nginx:1.27"), last, nothing)
	require.NoError(t, err)
	require.Equal(t, earlier.Digest, same.Digest, "an upgrade changes nothing")

	next, err := predict(t.Context(), renderer, input("nginx:1.28"), last, nothing)
	require.NoError(t, err)
	require.NotEmpty(t, shown(next))
	require.NotEqual(t, shown(earlier), shown(next))

	draft, err := renderer.Draft(t.Context(), input("nginx:1.28"))
	require.NoError(t, err)
	known := reference.Content{Digest: draft.Configuration(), Version: "known"}
	after, err := predict(t.Context(), renderer, input("nginx:1.29"), &Release{as: &livestate.Record{UID: "two", Configuration: known.String()}}, nothing)
	require.NoError(t, err)
	require.Equal(t, "known", shown(after), "the same configuration keeps its version")
}

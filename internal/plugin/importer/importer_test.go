package importer

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
	"github.com/example/appservice-operator/internal/plugin/importer/translate"
	"github.com/example/appservice-operator/test/specs"
)

// importer renders with the charts that are shipped, and checks as the API server does.
func importer(t testing.TB) *Importer {
	t.Helper()
	made, err := shipped()
	require.NoError(t, err)
	own := *made
	return &own
}

// shipped is made once: it reads the charts and the CRDs.
var shipped = sync.OnceValues(func() (*Importer, error) {
	text, err := fs.ReadFile(appservice.Files, "watches.yaml")
	if err != nil {
		return nil, err
	}
	served, err := chart.LoadWatches(text, appservice.Files)
	if err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.APIVersions = slices.Concat(capabilities.APIVersions, []string{
		"gateway.networking.k8s.io/v1/HTTPRoute", "gateway.networking.k8s.io/v1/GRPCRoute",
		"monitoring.coreos.com/v1/ServiceMonitor", "keda.sh/v1alpha1/ScaledObject",
	})
	renderers, checkers := map[string]*render.Renderer{}, map[string]*specs.Checker{}
	for _, w := range served {
		kind := w.Kind
		if w.Is() {
			continue // nothing is imported as such a kind
		}
		renderers[kind] = render.For(w, w.Chart)
		checkers[kind], err = specs.NewChecker("../../../config/crd/bases/app.example.com_" + strings.ToLower(kind) + "s.yaml")
		if err != nil {
			return nil, err
		}
	}
	return &Importer{
		Renderer: translate.Renderer{
			Render: func(ctx context.Context, app *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
				result, err := renderers[app.GetKind()].Render(ctx, app, capabilities)
				if err != nil {
					return nil, err
				}
				return result.Objects, nil
			},
			Check: func(app *unstructured.Unstructured) error { return checkers[app.GetKind()].Check(app.Object) },
		},
	}, nil
})

// parsed reads the objects of a manifest.
func parsed(t testing.TB, text []byte) []*unstructured.Unstructured {
	t.Helper()
	list, err := read.FromManifest(text, "")
	require.NoError(t, err)
	return list
}

func readFile(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return text
}

// appServices are all that the project has: samples and golden cases.
func appServices(t testing.TB) map[string]*unstructured.Unstructured {
	t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for _, pattern := range []string{"../../../config/samples/*.yaml", "../../../test/testdata/cases/*/cr.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files (error %v)", pattern, err)
		}
		for _, file := range files {
			for _, object := range parsed(t, readFile(t, file)) {
				if object.GetKind() != v1.Kind {
					continue
				}
				name := filepath.Base(file)
				if name == "cr.yaml" {
					name = filepath.Base(filepath.Dir(file))
				}
				all[name] = object
			}
		}
	}
	return all
}

// explained fails for notes that are mistakes.
func explained(t testing.TB, notes []read.Note) {
	t.Helper()
	for _, note := range notes {
		if note.Unexplained {
			t.Errorf("it is not explained: %s", note)
		}
	}
}

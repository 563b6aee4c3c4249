//go:build cluster && !race

// Minutes of both cores with the race detector, which finds nothing in what one goroutine renders.

package integration

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/plugin/importer"
	"github.com/example/appservice-operator/internal/plugin/importer/proof"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
	"github.com/example/appservice-operator/internal/plugin/importer/translate"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// importCases are the golden cases of the importer.
const importCases = "../../internal/plugin/importer/testdata/*/*.yaml"

// imports counts over all cases.
var imports struct{ cases, silent, refused, crashed atomic.Int64 }

// importerHere renders as the command does; the real API server checks what it makes.
func importerHere(t *testing.T) *importer.Importer {
	t.Helper()
	charts, err := preview.LoadCharts(appservice.Files)
	require.NoError(t, err)
	return &importer.Importer{
		Renderer: translate.Renderer{
			Render: func(ctx context.Context, app *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
				renderer := charts.Renderers[v1.GroupVersion.WithKind(app.GetKind())]
				result, err := renderer.Render(ctx, app, render.Serving(renderer.Chart))
				if err != nil {
					return nil, err
				}
				return result.Objects, nil
			},
			Check: func(app *unstructured.Unstructured) error {
				app = app.DeepCopy()
				app.SetNamespace("default")
				return cluster.Client.Create(t.Context(), app, client.DryRunAll)
			},
		},
	}
}

// TestImportedCasesAtTheAPIServer sends the original objects of each case, and what they become, to the API server. It has to accept what is
// made, and with the defaults that it sets, they may differ in nothing that import does not see without it.
func TestImportedCasesAtTheAPIServer(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(importCases)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	i, namespace := importerHere(t), cluster.Namespace(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			imports.cases.Add(1)
			defer func() {
				if crash := recover(); crash != nil {
					imports.crashed.Add(1)
					t.Errorf("it crashed: %v", crash)
				}
			}()
			objects, err := read.FromManifest(text, "")
			require.NoError(t, err)
			made, err := i.Objects(t.Context(), objects, "")
			if err != nil {
				t.Log(err) // its golden file says so
				return
			}
			imports.silent.Add(int64(made.Unexplained()))
			for _, result := range made.Results {
				checkImported(t, namespace, result)
			}
		})
	}
	fmt.Printf("IMPORT cases=%d silent=%d refused_by_api=%d crashed=%d\n", imports.cases.Load(), imports.silent.Load(), imports.refused.Load(),
		imports.crashed.Load())
}

// checkImported sends both sides of one result.
func checkImported(t *testing.T, namespace string, result importer.Result) {
	t.Helper()
	answered := func(objects []*unstructured.Unstructured, accept bool) (list []*unstructured.Unstructured) {
		for _, object := range objects {
			answer, err := answerTo(t, namespace, object)
			if err != nil && accept {
				imports.refused.Add(1)
				t.Errorf("the API server refuses %s %s: %v", object.GetKind(), object.GetName(), err)
			} else if err != nil {
				t.Logf("the API server refuses the original %s %s: %v", object.GetKind(), object.GetName(), err)
			}
			list = append(list, cmp.Or(answer, object))
		}
		return list
	}
	answered([]*unstructured.Unstructured{result.Resource}, true)
	given, rendered := answered(result.Given, false), answered(result.Rendered, true)
	if result.Given[0].GetKind() == "Pod" {
		return // admission adds to pods what it does not add to templates
	}
	seen := differences(result.Given, result.Rendered)
	for _, difference := range differences(given, rendered) {
		if !slices.Contains(seen, difference) {
			imports.silent.Add(1)
			t.Errorf("only the API server's answers show it: %s", difference)
		}
	}
}

func differences(before, after []*unstructured.Unstructured) (list []string) {
	for _, d := range proof.Differences(proof.Side{Objects: before}, proof.Side{Objects: after}) {
		list = append(list, d.Object()+" "+d.Field)
	}
	return list
}

// answerTo returns what the API server would store; nil for a kind that the cluster does not serve.
func answerTo(t *testing.T, namespace string, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	sent := object.DeepCopy()
	sent.SetNamespace(namespace)
	sent.SetOwnerReferences(nil)
	sent.SetResourceVersion("")
	sent.SetUID("")
	ports, _, _ := unstructured.NestedSlice(object.Object, "spec", "ports")
	unstructured.RemoveNestedField(sent.Object, "spec", "clusterIPs")
	if address, _, _ := unstructured.NestedString(sent.Object, "spec", "clusterIP"); address != "None" && object.GetKind() == "Service" {
		unstructured.RemoveNestedField(sent.Object, "spec", "clusterIP")
	}
	err := cluster.Client.Create(t.Context(), sent, client.DryRunAll)
	switch {
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && !strings.Contains(err.Error(), "namespaces"):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if object.GetKind() == "Service" { // ports of nodes are given by chance
		_ = unstructured.SetNestedSlice(sent.Object, withoutNodePorts(sent, ports), "spec", "ports")
	}
	return sent, nil
}

func withoutNodePorts(answer *unstructured.Unstructured, sent []any) []any {
	ports, _, _ := unstructured.NestedSlice(answer.Object, "spec", "ports")
	for n := range ports {
		if was, is := sent[n].(map[string]any); is && was["nodePort"] == nil {
			delete(ports[n].(map[string]any), "nodePort")
		}
	}
	return ports
}

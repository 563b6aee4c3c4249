// Package files reads files of the repository for tests, and writes files of theirs.
package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/toolchain"
)

// Root is the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	root, err := toolchain.Root()
	require.NoError(t, err)
	return root
}

// Documents returns the paths of all documents, relative to the repository: those at its top, and in docs.
func Documents(t testing.TB) []string {
	t.Helper()
	repository := os.DirFS(Root(t))
	paths, err := fs.Glob(repository, "*.md")
	require.NoError(t, err)
	err = fs.WalkDir(repository, "docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	require.NoError(t, err)
	return paths
}

// Text returns the content of a file, from its path or its place in the repository.
func Text(t testing.TB, path string) []byte {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(Root(t), path)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

// Published returns the folders of the charts that the operator serves as they were published: what tests demand of
// charts that were written for it, they do not have.
func Published(t testing.TB) (charts []string) {
	t.Helper()
	var served []struct{ Chart, From string }
	require.NoError(t, yaml.Unmarshal(Text(t, "watches.yaml"), &served))
	for _, entry := range served {
		if entry.From != "" {
			charts = append(charts, entry.Chart)
		}
	}
	return charts
}

// Into reads a file into an object that knows all its fields.
func Into(t testing.TB, path string, object any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(Text(t, path), object); err != nil {
		t.Fatalf("cannot parse %s: %v", path, err)
	}
}

// CRD reads a CRD.
func CRD(t testing.TB, path string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Into(t, path, crd)
	return crd
}

// Objects reads the objects of a file.
func Objects(t testing.TB, path string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := Decode(Text(t, path))
	if err != nil {
		t.Fatalf("cannot parse %s: %v", path, err)
	}
	return objects
}

// Decode returns the objects of a stream of YAML.
func Decode(text []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var document json.RawMessage
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(document) == 0 || string(document) == "null": // comments
			continue
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(document); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// Charts copies the charts of the repository into a folder, as helm-charts, and returns the folder.
func Charts(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "helm-charts"), os.DirFS(filepath.Join(Root(t), "helm-charts"))))
	return dir
}

// Figures writes figures of a run, for the line that sums up several, into the file that a variable of the environment names.
func Figures(variable, figures string) error {
	path := os.Getenv(variable)
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(figures+"\n"), 0o644)
}

// Write writes a file, and makes the folders that it lacks.
func Write(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// Package packaging tests what the operator is delivered as: manifests, chart, bundle and catalog. It needs no cluster.
package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/files"
)

const (
	root     = "../.."
	released = root + "/test/testdata/v0.1.0/bundle/manifests"
	present  = root + "/bundle/manifests"
	csvFile  = "appservice-operator.clusterserviceversion.yaml"
	crdFile  = "app.example.com_appservices.yaml"
)

// list is a part of an object, as YAML has it.
type (
	object = map[string]any
	list   = []any
)

// read parses the YAML of a file into the given type.
func read[T any](t *testing.T, path string) T {
	t.Helper()
	var into T
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if err := yaml.Unmarshal(text, &into); err != nil {
		t.Fatalf("cannot parse %s: %v", path, err)
	}
	return into
}

// csv is the ClusterServiceVersion of the bundle.
func csv(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: read[object](t, filepath.Join(present, csvFile))}
}

// at returns what is at a path of an object, which must be there.
func at[T any](t *testing.T, within object, path ...string) T {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(within, path...)
	typed, ok := value.(T)
	if err != nil || !found || !ok {
		t.Fatalf("%v is a %T (found %t, error %v)", path, value, found, err)
	}
	return typed
}

// documents splits a stream of YAML into objects.
func documents(t *testing.T, text []byte) []*unstructured.Unstructured {
	t.Helper()
	objects, err := files.Decode(text)
	require.NoError(t, err)
	return objects
}

// kustomize builds a folder of config/.
func kustomize(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	return documents(t, tool(t, "kustomize", "build", "config/"+folder))
}

// tool runs a program of tools/ in the repository's root and returns what it prints.
func tool(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	var complaint bytes.Buffer
	program := command(t, name, args...)
	program.Stderr = &complaint
	output, err := program.Output()
	require.NoError(t, err, "%s %v: %s", name, args, &complaint)
	return output
}

func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool", "-modfile=tools/pins/" + name + "/go.mod", name}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd
}

// version is that of the Makefile.
func version(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^VERSION \?= (\S+)$`).FindSubmatch(text)
	require.NotNil(t, found, "the Makefile has no VERSION")
	return string(found[1])
}

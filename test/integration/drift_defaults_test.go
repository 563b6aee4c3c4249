//go:build cluster

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// Defaults of the API server in pod templates and ports, which belong to the operator as a whole, are no differences:
// each would cost a dry run of the object after every restart of the operator.
func TestDefaultsOfTheAPIServerAreNoDrift(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	files, err := filepath.Glob("../testdata/cases/*/golden.yaml")
	require.NoError(t, err)
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, document := range strings.Split(string(text), "---\n# Source: ")[1:] {
			_, body, _ := strings.Cut(document, "\n")
			desired := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(body), &desired.Object))
			if kube.TraitsOf(desired.GroupVersionKind().GroupKind()).Exclusive == nil {
				continue
			}
			desired.SetNamespace(namespace)
			live := desired.DeepCopy()
			err := cluster.Client.Create(t.Context(), live, client.DryRunAll)
			if apierrors.IsInvalid(err) {
				continue // some cases have values that only an API server refuses
			}
			require.NoError(t, err, file)
			compared++
			plan := plan.Compare([]*unstructured.Unstructured{desired}, map[kube.Key]client.Object{kube.KeyOf(live): live})
			for _, change := range plan.Apply {
				if change.Field != "" { // else its replicas have yet to change hands
					t.Errorf("%s: %s", file, change)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d objects were compared, want those of all cases", compared)
	}
	t.Logf("%d objects", compared)
}

//go:build cluster

package contract

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/kube/reference"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/tools/references"
)

// asked are the kinds whose use needs a right.
var asked = []string{reference.Secret, reference.ConfigMap, reference.ServiceAccount, reference.PersistentVolumeClaim}

// fieldsOf are the fields of a CRD that the policies of config/admission check.
func fieldsOf(file string) ([]references.Field, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		return nil, err
	}
	return references.Of(root, crd)
}

// unguarded returns an error if a rendered object refers to something by a name that no policy checks. Names that begin with that of the resource
// are the operator's own choice.
func unguarded(fields []references.Field, name string, spec map[string]any, objects []*unstructured.Unstructured) error {
	known := map[reference.Object]bool{}
	for _, field := range fields {
		for _, name := range field.Names(spec) {
			known[reference.Object{Kind: field.To, Name: name}] = true
		}
	}
	for _, ref := range reference.Of(objects) {
		if !slices.Contains(asked, ref.Kind) || strings.HasPrefix(ref.Name, name) || known[ref.Object] {
			continue
		}
		return fmt.Errorf("%s becomes %s, and no policy asks whether its writer may use that: say in %s, under refers, which field names it",
			ref.By, ref.Object, references.File)
	}
	return nil
}

// TestEveryReferenceIsGuarded: the rendered golden cases of each kind refer only to what policies check. TestContractFields does this for the
// trials of all fields of AppServices.
func TestEveryReferenceIsGuarded(t *testing.T) {
	kinds, err := filepath.Glob(root + "/test/testdata/kinds/*")
	require.NoError(t, err)
	folders := map[string]string{"AppService": root + "/test/testdata/cases"}
	for _, kind := range kinds {
		folders[filepath.Base(kind)] = kind
	}
	crds, err := filepath.Glob(root + "/config/crd/bases/*.yaml")
	if err != nil || len(crds) != len(folders) {
		t.Fatalf("there are golden cases of %d kinds and %d CRDs (%v)", len(folders), len(crds), err)
	}
	for kind, folder := range folders {
		at := slices.IndexFunc(crds, func(file string) bool { return strings.HasSuffix(file, "_"+strings.ToLower(kind)+"s.yaml") })
		require.GreaterOrEqual(t, at, 0, "%s has no CRD among %v", kind, crds)
		fields, err := fieldsOf(crds[at])
		require.NoError(t, err)
		cases, err := filepath.Glob(folder + "/*/golden.yaml")
		if err != nil || len(cases) == 0 {
			t.Fatalf("%s has no golden cases (%v)", folder, err)
		}
		for _, golden := range cases {
			resources, objects := documents(t, filepath.Join(filepath.Dir(golden), "cr.yaml")), documents(t, golden)
			spec, _, _ := unstructured.NestedMap(resources[0].Object, "spec")
			if err := unguarded(fields, resources[0].GetName(), spec, objects); err != nil {
				t.Errorf("%s: %v", golden, err)
			}
		}
	}
}

// A reference that no field names is found.
func TestAReferenceWithoutAGuardIsFound(t *testing.T) {
	fields, err := fieldsOf(crdFile)
	require.NoError(t, err)
	pods := &unstructured.Unstructured{Object: map[string]any{
		"kind": "Deployment", "spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "app", "envFrom": []any{map[string]any{"secretRef": map[string]any{"name": "db"}}}}},
		}}},
	}}
	spec := map[string]any{"envFrom": []any{map[string]any{"secretRef": map[string]any{"name": "db"}}}}
	assert.NoError(t, unguarded(fields, "web", spec, []*unstructured.Unstructured{pods}), "what a guarded field names")
	spec = map[string]any{"image": "db"}
	assert.ErrorContains(t, unguarded(fields, "web", spec, []*unstructured.Unstructured{pods}), `Secret "db"`, "what no field names")
}

func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	return files.Objects(t, strings.TrimPrefix(file, root+"/"))
}

//go:build cluster

package contract

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/test/admission"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/try"
)

// asked are the kinds whose use needs a right.
var asked = []string{reference.Secret, reference.ConfigMap, reference.ServiceAccount, reference.PersistentVolumeClaim}

// unguarded returns an error if a rendered object refers to something by a name about which no policy asks a user without rights who writes the
// spec. A rendered object is the resource's own, or a conflict; so is the Secret that cert-manager fills for its Ingress.
func unguarded(policies []*admission.Policy, kind, name string, spec map[string]any, objects []*unstructured.Unstructured) error {
	written := try.Get(json.Marshal(spec))
	said := strings.Join(admission.Refusals(policies, admission.Write{Kind: kind, Now: string(written)}), "\n")
	for _, ref := range reference.Of(objects) {
		own := slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == ref.Kind && o.GetName() == ref.Name })
		issued := ref.By == reference.ByTLS && strings.HasPrefix(ref.Name, name+"-tls")
		everybodys := ref.Kind == reference.ServiceAccount && ref.Name == "default"
		named := fmt.Sprintf("%s %q", ref.Kind, ref.Name)
		guarded := strings.Contains(said, "refers to "+named) || strings.Contains(said, "refers to issued "+named)
		if !slices.Contains(asked, ref.Kind) || own || issued || everybodys || guarded {
			continue
		}
		return fmt.Errorf("%s becomes %s, and no policy asks whether its writer may use that: add the field to names in config/admission/references.yaml",
			ref.By, ref.Object)
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
		if !slices.Contains(files.Published(t), "helm-charts/"+filepath.Base(kind)) {
			folders[filepath.Base(kind)] = kind
		}
	}
	policies := admission.Policies()
	for kind, folder := range folders {
		cases, err := filepath.Glob(folder + "/*/golden.yaml")
		if err != nil || len(cases) == 0 {
			t.Fatalf("%s has no golden cases (%v)", folder, err)
		}
		for _, golden := range cases {
			resources, objects := documents(t, filepath.Join(filepath.Dir(golden), "cr.yaml")), documents(t, golden)
			spec, _, _ := unstructured.NestedMap(resources[0].Object, "spec")
			if err := unguarded(policies, kind, resources[0].GetName(), spec, objects); err != nil {
				t.Errorf("%s: %v", golden, err)
			}
		}
	}
}

// A reference that no field names is found.
func TestAReferenceWithoutAGuardIsFound(t *testing.T) {
	policies := admission.Policies()
	pods := &unstructured.Unstructured{Object: map[string]any{
		"kind": "Deployment", "spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "app", "envFrom": []any{map[string]any{"secretRef": map[string]any{"name": "db"}}}}},
		}}},
	}}
	spec := map[string]any{"envFrom": []any{map[string]any{"secretRef": map[string]any{"name": "db"}}}}
	assert.NoError(t, unguarded(policies, "AppService", "web", spec, []*unstructured.Unstructured{pods}), "what a guarded field names")
	spec = map[string]any{"image": "db"}
	assert.ErrorContains(t, unguarded(policies, "AppService", "web", spec, []*unstructured.Unstructured{pods}), `Secret "db"`, "what no field names")
}

func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	return files.Objects(t, strings.TrimPrefix(file, root+"/"))
}

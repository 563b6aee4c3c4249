package definition

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const root = "../.."

func definition(t *testing.T) *Definition {
	t.Helper()
	text, err := os.ReadFile(root + "/config/crd/bases/app.example.com_appservices.yaml")
	require.NoError(t, err)
	d, err := Read(text)
	require.NoError(t, err)
	return d
}

func parse(t *testing.T, text []byte) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(data, &object.Object))
	return object
}

// The rules compiled for one resource report the same errors as all rules: for each golden case, without one of its fields.
func TestFewRulesSayWhatAllSay(t *testing.T) {
	files, err := filepath.Glob(root + "/test/testdata/cases/*/cr.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d cases, error %v", len(files), err)
	}
	d, refused := definition(t), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		whole := parse(t, text)
		whole.SetNamespace("shop")
		spec := whole.Object["spec"].(map[string]any)
		for without := range spec {
			if without == "image" {
				continue
			}
			object := whole.DeepCopy()
			unstructured.RemoveNestedField(object.Object, "spec", without)
			object.Object["spec"].(map[string]any)["commonLabels"] = map[string]any{"helm.sh/a": "b"} // refused by a rule
			d.admitted.Store(0)
			one := d.Admit(t.Context(), object)
			d.admitted.Store(few)
			all := d.Admit(t.Context(), object)
			if got, want := one.Errors.ToAggregate().Error(), all.Errors.ToAggregate().Error(); got != want || !strings.Contains(got, "commonLabels must not have") {
				t.Errorf("%s without %s: got %s, want %s", file, without, got, want)
			}
			refused++
			break
		}
	}
	if refused < 50 {
		t.Errorf("only %d resources were compared", refused)
	}
}

package values

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// FuzzTranslate: whatever a spec holds, its values are those of a spec that says the same, or it is refused in one line.
func FuzzTranslate(f *testing.F) {
	files, err := filepath.Glob("../../../test/testdata/cases/*/cr.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		content, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			f.Fatal(err)
		}
		var resource struct{ Spec json.RawMessage }
		if err := json.Unmarshal(content, &resource); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(resource.Spec))
	}
	translator := For(v1.GroupVersion.WithKind(v1.Kind), bare, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		var spec any
		if utiljson.Unmarshal(data, &spec) != nil {
			return // the API server hands out nothing else
		}
		first, err := translator.Translate(t.Context(), &unstructured.Unstructured{Object: map[string]any{"spec": spec}})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
			return
		}
		text, err := json.Marshal(first)
		require.NoError(t, err)
		var again any
		require.NoError(t, utiljson.Unmarshal(text, &again))
		second, err := translator.Translate(t.Context(), &unstructured.Unstructured{Object: map[string]any{"spec": again}})
		if err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("the values are not those of a spec that says the same: %v, %v, then %v", err, first, second)
		}
	})
}

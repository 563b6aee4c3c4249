//go:build cluster

package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/crd"
)

// oneIn selects one of so many mistakes. With -each-mistake, all are tried: some 9,000, in a minute or two.
const oneIn = 10

var eachMistake = flag.Bool("each-mistake", false, "send each mistake of each field to the API server, and not one in ten")

// mistakes are typical mistakes in a field of any type.
func mistakes(value any) map[string]any {
	made := map[string]any{"null": nil, "a text": "x y", "no text": "", "a long text": strings.Repeat("a", 5000), "a number": int64(7), "a negative number": int64(-1),
		"a large number": int64(1) << 40, "a fraction": 1.5, "a truth": true, "a list": []any{}, "a list of null": []any{nil}, "an object": map[string]any{"surplus": int64(1)}, "nothing in it": map[string]any{}}
	switch value := value.(type) {
	case map[string]any:
		with := runtime.DeepCopyJSON(value)
		with["surplus"] = int64(1)
		made["one more field"] = with
	case []any:
		twice := slices.Concat(value, value)
		made["each entry twice"] = runtime.DeepCopyJSONValue(twice)
	}
	return made
}

// fieldsIn calls a function with each field in a value, by its path without indices, and how to set it.
func fieldsIn(path string, value any, visit func(path string, value any, set func(any))) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			field := value[name]
			visit(path+"."+name, field, func(to any) { value[name] = to })
			fieldsIn(path+"."+name, field, visit)
		}
	case []any:
		for i, entry := range value {
			visit(path+"[]", entry, func(to any) { value[i] = to })
			fieldsIn(path+"[]", entry, visit)
		}
	}
}

// Each field that a golden case sets is set to invalid values, and to possibly valid ones. The API server and validate, which uses the server's
// code without a server, refuse the same.
func TestValidateRefusesWhatTheAPIServerRefusesOfEachField(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	for plural, test := range map[string]struct{ kind, cases string }{
		"appservices": {"AppService", "cases/*"},
		"appjobs":     {"AppJob", "kinds/appjob/*"},
	} {
		t.Run(plural, func(t *testing.T) {
			kind := schema.GroupVersionKind{Group: "app.example.com", Version: "v1", Kind: test.kind}
			d, err := crd.Of(os.DirFS(root), "config/crd/bases", kind, plural)
			if err != nil || d == nil {
				t.Fatalf("there is no definition: %v", err)
			}
			files, err := filepath.Glob(filepath.Join(root, "test/testdata", test.cases, "cr.yaml"))
			if err != nil || len(files) == 0 {
				t.Fatalf("got %d cases, error %v", len(files), err)
			}
			seen, asked, refused := map[string]bool{}, 0, 0
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				object := &unstructured.Unstructured{}
				require.NoError(t, yaml.Unmarshal(text, &object.Object))
				object.SetNamespace(namespace)
				fieldsIn("spec", object.Object["spec"], func(path string, value any, set func(any)) {
					made := mistakes(value)
					for _, name := range slices.Sorted(maps.Keys(made)) {
						what := fmt.Sprintf("%s is %s", path, name)
						if seen[what] {
							continue
						}
						seen[what] = true
						if !*eachMistake && len(seen)%oneIn != 0 {
							continue
						}
						set(made[name])
						text, err := json.Marshal(object.Object)
						require.NoError(t, err)
						server := dryRun(t, namespace, string(text))
						admitted := d.Admit(t.Context(), read(t, text))
						asked++
						if len(server) > 0 {
							refused++
						}
						if offline := len(admitted.Errors)+len(admitted.Unknown) > 0; offline != (len(server) > 0) {
							t.Errorf("%s: %s: the API server says %q, validate %v %q", filepath.Base(filepath.Dir(file)), what, server, admitted.Errors, admitted.Unknown)
						}
					}
					set(value)
				})
			}
			if t.Logf("%d specs, %d refused", asked, refused); refused == 0 {
				t.Error("the API server refuses none")
			}
		})
	}
}

func read(t *testing.T, text []byte) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, object.UnmarshalJSON(text))
	return object
}

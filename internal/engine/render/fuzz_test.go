package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// FuzzRender: whatever a spec holds, the schema of the CRD aside, it is refused in one line, or becomes objects of the chart's
// kinds in the resource's namespace, the same each time, whose manifest reads back as what they are.
func FuzzRender(f *testing.F) {
	for _, spec := range caseSpecs(f) {
		f.Add(spec)
	}
	renderer := unguarded(f)
	kinds := appchart.Kinds(renderer.Chart)
	f.Fuzz(func(t *testing.T, data []byte) {
		resource := appService(t, "{}")
		var spec any
		if utiljson.Unmarshal(data, &spec) != nil {
			return // the API server hands out nothing else
		}
		resource.Object["spec"] = spec
		first, err := renderer.Render(t.Context(), resource.DeepCopy(), everyKind)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
			return
		}
		second, err := renderer.Render(t.Context(), resource, everyKind)
		if err != nil || first.Digest != second.Digest {
			t.Fatalf("rendered twice, it is not the same: %v", err)
		}
		for _, object := range first.Objects {
			if !slices.Contains(kinds, object.GroupVersionKind()) || object.GetNamespace() != resource.GetNamespace() {
				t.Errorf("got %s in namespace %q", kube.KeyOf(object), object.GetNamespace())
			}
			if _, retained := object.GetAnnotations()[v1.AnnotationRetainedFor]; !retained && len(object.GetOwnerReferences()) != 1 {
				t.Errorf("%s has the owners %v", kube.KeyOf(object), object.GetOwnerReferences())
			}
		}
		readsBack(t, first)
	})
}

// caseSpecs are the specs of the golden cases, as JSON.
func caseSpecs(f *testing.F) [][]byte {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(cases, "*", "cr.yaml"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	var specs [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		resource := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &resource.Object); err != nil {
			f.Fatal(err)
		}
		spec, err := json.Marshal(resource.Object["spec"])
		if err != nil {
			f.Fatal(err)
		}
		specs = append(specs, spec)
	}
	return specs
}

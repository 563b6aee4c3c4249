package render

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/values"
)

var update = flag.Bool("update", false, "update the golden files")

// goldenCase is a folder with the cr.yaml of a resource, and what it becomes in golden.yaml.
type goldenCase struct {
	name, dir string
	renderer  *Renderer
	resource  *unstructured.Unstructured
}

// goldenCases are those of AppService in test/testdata/cases and those of all other kinds in test/testdata/kinds/CHART,
// without those of charts that are served as they were published.
func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	return slices.DeleteFunc(allCases(t), func(one goldenCase) bool { return one.renderer.Published.Is() })
}

func allCases(t *testing.T) []goldenCase {
	t.Helper()
	text, err := fs.ReadFile(appservice.Files, "watches.yaml")
	require.NoError(t, err)
	served, err := appchart.LoadWatches(text, appservice.Files)
	require.NoError(t, err)
	var list []goldenCase
	for _, watch := range served {
		renderer := &Renderer{Chart: watch.Chart, Translator: values.For(watch.GroupVersionKind, watch.Chart, nil), Hooks: postrender.Default()}
		if watch.Is() {
			renderer = For(watch, watch.Chart)
		}
		folder := cases
		if watch.GroupVersionKind != v1.GroupVersion.WithKind(v1.Kind) {
			folder = filepath.Join(cases, "../kinds", watch.Chart.Name())
		}
		files, err := filepath.Glob(filepath.Join(folder, "*/cr.yaml"))
		if err != nil || len(files) == 0 && !watch.Is() {
			t.Fatalf("%s has no case (error %v): make a folder with a cr.yaml", folder, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			resource := parsedObject(t, string(text))
			stored(resource)
			if resource.GroupVersionKind() != watch.GroupVersionKind {
				t.Errorf("%s is a %s", file, resource.GroupVersionKind())
			}
			dir := filepath.Dir(file)
			list = append(list, goldenCase{name: watch.Chart.Name() + "/" + filepath.Base(dir), dir: dir, renderer: renderer, resource: resource})
		}
	}
	return list
}

// TestGolden renders cr.yaml of every case and compares it with golden.yaml beside it. A new case is a new folder with a
// cr.yaml: -update writes the rest, for you to review.
func TestGolden(t *testing.T) {
	for _, one := range allCases(t) {
		t.Run(one.name, func(t *testing.T) {
			got := printed(t, rendered(t, one.renderer, one.resource))
			file := filepath.Join(one.dir, "golden.yaml")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				t.Fatal("it has no golden.yaml: run the test with -update and review what it writes")
			}
			require.NoError(t, err)
			if difference := firstDifference(got, string(want)); difference != "" {
				t.Errorf("it renders other objects; if they are as they should be, run the test with -update\n%s", difference)
			}
		})
	}
}

func caseNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(cases)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if len(names) == 0 {
		t.Fatal("there is no case")
	}
	return names
}

// printed is what people read: YAML without stamps, which repeat in one line what the other lines say.
func printed(t *testing.T, result *Result) string {
	t.Helper()
	var out strings.Builder
	for i, object := range result.Objects {
		object = object.DeepCopy()
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", postrender.AnnotationStamp)
		data, err := yaml.Marshal(object.Object)
		require.NoError(t, err)
		fmt.Fprintf(&out, "---\n# Source: %s\n%s", result.Sources[i], data)
	}
	return out.String()
}

// firstDifference shows the first lines that differ, with some lines around them.
func firstDifference(got, want string) string {
	if got == want {
		return ""
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	first := 0
	for first < len(a) && first < len(b) && a[first] == b[first] {
		first++
	}
	around := func(lines []string, mark string) string {
		var out strings.Builder
		for i := max(first-4, 0); i < min(first+6, len(lines)); i++ {
			if i < first {
				out.WriteString("  " + lines[i] + "\n")
				continue
			}
			out.WriteString(mark + lines[i] + "\n")
		}
		return out.String()
	}
	return "-want\n" + around(a, "- ") + "+got\n" + around(b, "+ ")
}

// TestGoldenCasesCoverEveryField keeps the cases complete: a new field of the API needs a case.
func TestGoldenCasesCoverEveryField(t *testing.T) {
	used := map[string]bool{}
	for _, name := range caseNames(t) {
		collect("spec", golden(t, name).Object["spec"], used)
	}
	// The API server refuses it: no pod is stopped for a readiness probe.
	const never = "spec.probes.readiness.terminationGracePeriodSeconds"
	all := fieldsOf("spec", reflect.TypeFor[v1.AppServiceSpec]())
	declared, err := fields.Of(shipped(t).Chart, v1.GroupVersion.WithKind(v1.Kind))
	require.NoError(t, err)
	for _, field := range append(all, declared.Paths()...) {
		if !used[field] && field != never {
			t.Errorf("no case has %s", field)
		}
	}
}

func collect(path string, value any, into map[string]bool) {
	into[path] = true
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			collect(path+"."+key, item, into)
		}
	case []any:
		for _, item := range value {
			collect(path+"[]", item, into)
		}
	}
}

// fieldsOf lists the fields of our own types, down to the types of Kubernetes.
func fieldsOf(path string, kind reflect.Type) []string {
	switch {
	case kind.Kind() == reflect.Pointer:
		return fieldsOf(path, kind.Elem())
	case kind.Kind() == reflect.Slice:
		return fieldsOf(path+"[]", kind.Elem())
	case kind.Kind() != reflect.Struct || kind.PkgPath() != reflect.TypeFor[v1.AppService]().PkgPath():
		return []string{path}
	}
	var list []string
	for i := range kind.NumField() {
		field := kind.Field(i)
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			list = append(list, fieldsOf(path+"."+name, field.Type)...)
		} else { // the fields of a type that is embedded stand beside the others
			list = append(list, fieldsOf(path, field.Type)...)
		}
	}
	return list
}

// TestKindsKnowsWhatTheCasesRender keeps the kinds that are watched from the start complete.
func TestKindsKnowsWhatTheCasesRender(t *testing.T) {
	missing := map[string]bool{} // charts and kinds without an object in any case
	all := goldenCases(t)
	for _, one := range all {
		for _, kind := range appchart.Kinds(one.renderer.Chart) {
			missing[one.renderer.Chart.Name()+" "+kind.String()] = true
		}
	}
	for _, one := range all {
		known := appchart.Kinds(one.renderer.Chart)
		for _, object := range rendered(t, one.renderer, one.resource).Objects {
			delete(missing, one.renderer.Chart.Name()+" "+object.GroupVersionKind().String())
			if !slices.Contains(known, object.GroupVersionKind()) {
				t.Errorf("case %s renders a %s, which the chart is not known for", one.name, object.GroupVersionKind())
			}
		}
	}
	for kind := range missing {
		t.Errorf("no case renders what this chart names: %s", kind)
	}
}

// TestManifestSaysWhatTheObjectsAre reads the printed objects back.
func TestManifestSaysWhatTheObjectsAre(t *testing.T) {
	renderer := shipped(t)
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			readsBack(t, rendered(t, renderer, golden(t, name)))
		})
	}
}

func readsBack(t *testing.T, result *Result) {
	t.Helper()
	documents := strings.Split(result.Manifest(), "---\n# Source: ")[1:]
	if len(documents) != len(result.Objects) {
		t.Fatalf("got %d documents, want %d", len(documents), len(result.Objects))
	}
	for i, document := range documents {
		source, body, _ := strings.Cut(document, "\n")
		if source != result.Sources[i] {
			t.Errorf("document %d comes from %q, want %q", i+1, source, result.Sources[i])
		}
		if diff := cmp.Diff(result.Objects[i].Object, parsedObject(t, body).Object); diff != "" {
			t.Errorf("%s: %s", kube.KeyOf(result.Objects[i]), diff)
		}
	}
}

// TestObjectsComeInTheOrderInWhichTheyAreNeeded: what an object refers to comes before it. A list of kinds would have to be kept.
func TestObjectsComeInTheOrderInWhichTheyAreNeeded(t *testing.T) {
	met := map[string]bool{}
	for _, one := range goldenCases(t) {
		objects := rendered(t, one.renderer, one.resource).Objects
		for i, object := range objects {
			for _, later := range objects[i+1:] {
				if refers(object, later) {
					t.Errorf("case %s: %s comes before %s, which it refers to", one.name, kube.KeyOf(object), kube.KeyOf(later))
				}
			}
			for _, earlier := range objects[:i] {
				met[earlier.GetKind()] = met[earlier.GetKind()] || refers(object, earlier)
			}
		}
	}
	for _, kind := range []string{"ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim"} {
		if !met[kind] {
			t.Errorf("no case has an object that refers to a %s, or the test does not see that it does", kind)
		}
	}
}

func refers(object, to *unstructured.Unstructured) bool {
	return slices.ContainsFunc(reference.Of([]*unstructured.Unstructured{object}), func(ref reference.Reference) bool {
		return ref.Kind == to.GetKind() && ref.Name == to.GetName()
	})
}

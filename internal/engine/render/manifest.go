package render

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/text"
)

// manifest is an object and the template that it comes from.
type manifest struct {
	source string
	object *unstructured.Unstructured
}

// manifestsOf reads what the templates rendered, in Helm's order of installation. It is releaseutil.SortManifests for
// charts without hooks. With asBefore, documents are read without the line end that Helm writes after each, as earlier
// operators did. Ends reports whether that makes a difference.
func manifestsOf(files map[string]string, asBefore bool) (list []manifest, ends bool, err error) {
	for _, source := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(source, "NOTES.txt") {
			continue
		}
		for _, text := range documents(files[source]) {
			if strings.TrimSpace(text) == "" {
				continue // most templates are for features that are off
			}
			object := &unstructured.Unstructured{}
			if err := decode(text, object); err != nil {
				return nil, false, &ChartError{At: source, Rule: appchart.RuleNoYAML,
					Err: &documentError{text, fmt.Errorf("does not render an object: %w", err)}}
			}
			if object.Object == nil {
				continue
			}
			isTest, err := testHook(object)
			if err != nil {
				return nil, false, &ChartError{At: source, Rule: appchart.RuleHook, Err: &documentError{text, err}}
			}
			if isTest {
				continue
			}
			if object.GetName() == "" {
				return nil, false, &ChartError{At: source, Rule: appchart.RuleNoYAML,
					Err: &documentError{text, fmt.Errorf("renders a %s without metadata.name", object.GetKind())}}
			}
			if ended := ended(text, object); ended != nil {
				if ends = true; !asBefore {
					object = ended
				}
			}
			list = append(list, manifest{source, object})
		}
	}
	sortByInstallation(list)
	return list, ends, nil
}

// sortByInstallation sorts objects by Helm's order of installation.
func sortByInstallation(list []manifest) {
	slices.SortStableFunc(list, func(a, b manifest) int {
		first, second := a.object.GetKind(), b.object.GetKind()
		order := cmp.Compare(installed(first), installed(second))
		return cmp.Or(order, strings.Compare(first, second))
	})
}

// ended returns an object as Helm reads its document, which ends with one line end: nil if that is the same, or if the
// object can never change.
func ended(document string, object *unstructured.Unstructured) *unstructured.Unstructured {
	text := strings.TrimRightFunc(document, unicode.IsSpace) + "\n"
	sealed, _, _ := unstructured.NestedBool(object.Object, "immutable")
	if text == document || !strings.ContainsAny(document, "|>") || sealed || object.GetKind() == "Job" {
		return nil
	}
	out := &unstructured.Unstructured{}
	if err := decode(text, out); err != nil || reflect.DeepEqual(out.Object, object.Object) {
		return nil
	}
	return out
}

// installed returns the place of a kind in Helm's order of installation; kinds that Helm does not know come last.
func installed(kind string) int {
	if at := slices.Index(releaseutil.InstallOrder, kind); at >= 0 {
		return at
	}
	return len(releaseutil.InstallOrder)
}

// documents splits the output of a template.
func documents(text string) []string {
	if !strings.Contains(text, "---") {
		return []string{text}
	}
	split := releaseutil.SplitManifests(text)
	keys := slices.SortedFunc(maps.Keys(split), byNumber)
	list := make([]string, 0, len(keys))
	for _, key := range keys {
		list = append(list, split[key])
	}
	return list
}

// byNumber compares the names of two documents: manifest-2 comes before manifest-10.
func byNumber(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// testHook reports whether an object is a test of the chart, which the operator does not run. It refuses objects that
// Helm would treat as other hooks: hooks bypass post-rendering and have no owner, and Helm drops those whose event it
// does not know.
func testHook(object *unstructured.Unstructured) (bool, error) {
	event, found := object.GetAnnotations()[release.HookAnnotation]
	if !found {
		return false, nil
	}
	if event != string(release.HookTest) && event != "test-success" {
		return false, fmt.Errorf("renders %s %q as a Helm hook (%s), which this operator does not run: %s",
			object.GetKind(), object.GetName(), event, appchart.InsteadOfHook(event))
	}
	return true, nil
}

func decode(text string, object *unstructured.Unstructured) error {
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return err
	}
	if err := utiljson.Unmarshal(data, &object.Object); err != nil {
		return err
	}
	if object.Object == nil {
		return nil
	}
	if object.GetKind() == "" || object.GetAPIVersion() == "" {
		return fmt.Errorf("apiVersion and kind are required")
	}
	return nil
}

// documentStart comes before the source of each document of a manifest. No JSON has a line like that.
const documentStart = "---\n# Source: "

// ReadManifest returns the objects of a manifest that Result.Manifest printed.
func ReadManifest(manifest string) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	for _, document := range strings.Split(manifest, documentStart)[1:] {
		_, data, _ := strings.Cut(document, "\n") // the source
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON([]byte(data)); err != nil {
			return nil, fmt.Errorf("has a document that is not an object: %s", text.Line(err.Error()))
		}
		list = append(list, object)
	}
	return list, nil
}

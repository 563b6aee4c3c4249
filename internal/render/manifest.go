package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	appchart "github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/kube/jobs"
	"github.com/example/appservice-operator/internal/text"
)

// manifest is an object and the template that it comes from.
type manifest struct {
	source string
	object *unstructured.Unstructured
	// identity is a Job that runs once, read without the line end that Helm writes after it: earlier operators read it so,
	// and a Job does not run again for a line end. It is nil for other objects.
	identity *unstructured.Unstructured
}

// manifestsOf reads what the templates rendered, in Helm's order of installation. It is releaseutil.SortManifests for
// charts without hooks, and reads each document once.
func manifestsOf(files map[string]string) ([]manifest, error) {
	var list []manifest
	for _, source := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(source, "NOTES.txt") {
			continue
		}
		for _, text := range documents(files[source]) {
			if strings.TrimSpace(text) == "" {
				continue // most templates are for features that are off
			}
			object := &unstructured.Unstructured{}
			if err := decode(strings.TrimRightFunc(text, unicode.IsSpace)+"\n", object); err != nil { // as Helm writes it
				return nil, &ChartError{At: source, Rule: appchart.RuleNoYAML,
					Err: &documentError{text, fmt.Errorf("does not render an object: %w", err)}}
			}
			if object.Object == nil {
				continue
			}
			isTest, err := testHook(object)
			if err != nil {
				return nil, &ChartError{At: source, Rule: appchart.RuleHook, Err: &documentError{text, err}}
			}
			if isTest {
				continue
			}
			if object.GetName() == "" {
				return nil, &ChartError{At: source, Rule: appchart.RuleNoYAML,
					Err: &documentError{text, fmt.Errorf("renders a %s without metadata.name", object.GetKind())}}
			}
			read := manifest{source: source, object: object}
			if jobs.Asks(object) {
				read.identity = &unstructured.Unstructured{}
				_ = decode(text, read.identity) // it succeeded above
			}
			list = append(list, read)
		}
	}
	slices.SortStableFunc(list, func(a, b manifest) int {
		first, second := a.object.GetKind(), b.object.GetKind()
		order := cmp.Compare(installed(first), installed(second))
		return cmp.Or(order, strings.Compare(first, second))
	})
	return list, nil
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
	keys := slices.SortedFunc(maps.Keys(split), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) // manifest-2 before manifest-10
	})
	list := make([]string, 0, len(keys))
	for _, key := range keys {
		list = append(list, split[key])
	}
	return list
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

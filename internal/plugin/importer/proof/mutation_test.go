package proof

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// meaningless are fields whose change means nothing: one version of a kind is another's, and an autoscaler sets the replicas.
var meaningless = []string{".apiVersion", ".kind", ".spec.replicas", ".scaleTargetRef."}

// TestEachFieldIsCompared changes each field of the objects of testdata, one by one, and looks whether it is seen.
func TestEachFieldIsCompared(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"testdata/everything.yaml", "testdata/replicas.yaml"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			eachFieldIsCompared(t, objectsIn(t, file))
		})
	}
}

func eachFieldIsCompared(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	changes, unseen := 0, []string(nil)
	for n, object := range objects {
		for _, path := range leaves("", object.Object) {
			if slices.ContainsFunc(meaningless, func(m string) bool { return path == m || strings.HasSuffix(m, ".") && strings.Contains(path, m) }) {
				continue
			}
			changed := make([]*unstructured.Unstructured, len(objects))
			for m := range objects {
				changed[m] = objects[m].DeepCopy()
			}
			mutate("", changed[n].Object, path)
			changes++
			if len(Differences(Side{Objects: objects}, Side{Objects: changed})) == 0 {
				unseen = append(unseen, describe(object)+" "+path)
			}
		}
	}
	require.Greater(t, changes, 80)
	if len(unseen) > 0 {
		t.Errorf("%d of %d changes are not seen:\n%s", len(unseen), changes, strings.Join(unseen, "\n"))
	}
}

// TestEqualMeaningIsNoDifference compares two ways to write the same application.
func TestEqualMeaningIsNoDifference(t *testing.T) {
	t.Parallel()
	for _, d := range Differences(Side{Objects: objectsIn(t, "testdata/short.yaml")}, Side{Objects: objectsIn(t, "testdata/long.yaml")}) {
		t.Error(d)
	}
}

func objectsIn(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var list []*unstructured.Unstructured
	for _, document := range strings.Split(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		content, err := yaml.ToJSON([]byte(document))
		require.NoError(t, err)
		require.NoError(t, object.UnmarshalJSON(content))
		list = append(list, object)
	}
	return list
}

// leaves returns the paths of all texts, numbers and truth values.
func leaves(path string, value any) []string {
	var list []string
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			list = append(list, leaves(path+"."+key, item)...)
		}
	case []any:
		for n, item := range value {
			list = append(list, leaves(fmt.Sprintf("%s[%d]", path, n), item)...)
		}
	default:
		return []string{path}
	}
	slices.Sort(list)
	return list
}

// mutate changes the value at a path.
func mutate(path string, value any, at string) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = mutate(path+"."+key, value[key], at)
		}
		return value
	case []any:
		for n := range value {
			value[n] = mutate(fmt.Sprintf("%s[%d]", path, n), value[n], at)
		}
		return value
	case string:
		if path == at && slices.Contains([]string{"TCP", "UDP"}, value) {
			return "SCTP"
		}
		if path == at {
			return value + "1"
		}
	case bool:
		return value != (path == at)
	case int64:
		if path == at {
			return value + 1
		}
	}
	return value
}

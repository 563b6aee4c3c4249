package defaults

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/internal/engine/text"
)

// Layer holds the defaults of one source, in the shape of a spec.
type Layer struct {
	// Source is the name of the source for people.
	Source string
	Values map[string]any
}

// Under lays layers beneath a spec, the highest first, and returns the result and which fields came from where. The
// spec is not changed. An object that a spec lacks comes from the layers if they set everything it requires; else they
// only add to it.
func Under(spec map[string]any, place fields.Place, layers ...Layer) (map[string]any, []v1.DefaultsStatus) {
	together := map[string]any{}
	for _, layer := range layers {
		lay(together, layer.Values, fields.Place{}, nil, func([]string) {})
	}
	out := runtime.DeepCopyJSON(spec)
	var taken [][]string
	lay(out, together, place, nil, func(path []string) { taken = append(taken, path) })
	var applied []v1.DefaultsStatus
	for i, layer := range layers {
		status := v1.DefaultsStatus{Source: layer.Source}
		for _, path := range taken {
			if says(layer, layers[:i], path) {
				status.Fields = append(status.Fields, strings.Join(path, "."))
			}
		}
		if len(status.Fields) > 0 {
			status.Fields = text.First(status.Fields, mostFields)
			applied = append(applied, status)
		}
	}
	return out, applied
}

// lay adds to a map the missing entries of another one, and reports the paths that come from there.
func lay(over, under map[string]any, at fields.Place, path []string, note func(path []string)) {
	before := maps.Clone(over)
	for _, key := range slices.Sorted(maps.Keys(under)) {
		field, _ := at.Field(key)
		below := append(slices.Clone(path), key)
		upper, has := over[key]
		if !has {
			if at.Excludes(before, key) || field.Lacks(under[key]) != "" {
				continue
			}
			over[key] = runtime.DeepCopyJSONValue(under[key])
			note(below)
			continue
		}
		spec, isMap := upper.(map[string]any)
		lower, too := under[key].(map[string]any)
		if isMap && too {
			lay(spec, lower, field, below, note)
		}
	}
}

// says reports whether a layer contributes to the value at a path, though others are above it.
func says(layer Layer, above []Layer, path []string) bool {
	value, found, _ := unstructured.NestedFieldNoCopy(layer.Values, path...)
	if !found {
		return false
	}
	_, isMap := value.(map[string]any)
	for _, higher := range above {
		if other, covers, _ := unstructured.NestedFieldNoCopy(higher.Values, path...); covers {
			if _, merges := other.(map[string]any); !merges || !isMap {
				return false
			}
		}
	}
	return true
}

// mostFields is the number of fields of a source that a status lists.
const mostFields = 20

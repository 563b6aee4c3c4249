package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// selector is the selector of a workload as JSON, and the name of its case.
type selector struct{ text, in string }

// anyName is the name of resources whose renderings are compared.
const anyName = "web"

// selector adds a finding if the selector of a workload differs from that of an earlier case: any spec may replace any
// other, and selectors are immutable.
func (t *trial) selector(ctx context.Context, resource *unstructured.Unstructured, name string, found *findings) {
	// under one name: a selector may contain it
	result, err := t.again.Render(ctx, called(resource, anyName), t.capabilities)
	if err != nil {
		return
	}
	for i, object := range result.Objects {
		value, there, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "selector", "matchLabels")
		if !there || object.GroupVersionKind().Group != appsv1.GroupName {
			continue
		}
		text, _ := json.Marshal(value) // it is valid JSON
		key := kube.KeyOf(object)
		before, seen := t.selectors[key]
		if !seen {
			t.selectors[key] = selector{string(text), name}
			continue
		}
		if before.text == string(text) {
			continue
		}
		_, file, _ := strings.Cut(result.Sources[i], "/")
		found.add(Finding{
			Rule: ruleOf(ruleSelector), File: file,
			Message: fmt.Sprintf("%s: spec.selector.matchLabels differs between %s and %s, and selectors are immutable",
				key.Kind, name, before.in),
			Remedy: "build it from .Release.Name and constants",
		})
		return
	}
}

// vary changes each value of the chart that a case does not set, one at a time, and compares selectors. It skips
// changes that do not render.
func (t *trial) vary(ctx context.Context, of Case, found *findings) {
	spec, _, _ := unstructured.NestedMap(of.Resource.Object, "spec")
	eachLeaf(t.chart.Values, nil, func(path []string, value any) {
		changed, can := another(value)
		if _, there, _ := unstructured.NestedFieldNoCopy(spec, path...); there || !can || len(*found) > 0 {
			return
		}
		varied := of.Resource.DeepCopy()
		if unstructured.SetNestedField(varied.Object, changed, append([]string{"spec"}, path...)...) == nil {
			t.selector(ctx, varied, "another "+strings.Join(path, "."), found)
		}
	})
}

func eachLeaf(values map[string]any, path []string, visit func(path []string, value any)) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		below := append(slices.Clone(path), name)
		if inner, isMap := values[name].(map[string]any); isMap && len(inner) > 0 {
			eachLeaf(inner, below, visit)
			continue
		}
		visit(below, values[name])
	}
}

// another returns a different value of the same type, and whether there is one.
func another(value any) (any, bool) {
	switch value := value.(type) {
	case string:
		return value + "x", true
	case bool:
		return !value, true
	case int64:
		return value + 1, true
	case float64:
		return int64(value) + 1, true
	case map[string]any:
		return map[string]any{"x": "x"}, true
	}
	return nil, false
}

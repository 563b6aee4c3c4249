package postrender

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// ReservedError reports that a spec sets a reserved label or annotation.
type ReservedError struct {
	// Field of the spec that names the key.
	Field, Key string
	// In is where the spec would set it, for example labels of Service "web".
	In string
	// Why it is reserved, and what to do instead.
	Why string
}

func (e *ReservedError) Error() string {
	return fmt.Sprintf("%s must not have %s, which would be among the %s: %s", e.Field, e.Key, e.In, e.Why)
}

// Reserved refuses labels and annotations that are reserved and that the spec names, whatever field names them and into
// whatever object the chart puts them. Keys that the chart itself sets are left alone. It runs before the hooks that
// set such keys.
func Reserved(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	spec, _, _ := unstructured.NestedFieldNoCopy(in.Owner.Object, "spec")
	named := map[string]string{}
	mentions(named, "spec", spec)
	if len(named) == 0 {
		return nil
	}
	for _, object := range objects {
		if err := reservedIn(named, object, object.Object); err != nil {
			return err
		}
	}
	return nil
}

// mentions collects the fields that name reserved keys, as the key of a map or as a text. Fields that select objects
// are left out.
func mentions(into map[string]string, field string, value any) {
	note := func(key string) {
		if kube.ReservedLabel(key) != "" && into[key] == "" {
			into[key] = field
		}
	}
	switch value := value.(type) {
	case string:
		note(value)
	case []any:
		for i, item := range value {
			mentions(into, fmt.Sprintf("%s[%d]", field, i), item)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if note(key); !selects(key) {
				mentions(into, field+"."+key, value[key])
			}
		}
	}
}

// selects reports whether a field selects objects, in all kinds that have it.
func selects(field string) bool {
	return strings.HasSuffix(strings.ToLower(field), "selector") ||
		slices.Contains([]string{"matchLabels", "matchExpressions", "matchLabelKeys", "nodeSelectorTerms"}, field)
}

// reservedIn looks for reserved keys among all labels and annotations in an object: its own, those of its pods and
// claims, and those of objects created from it.
func reservedIn(named map[string]string, object *unstructured.Unstructured, value any) error {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if err := reservedIn(named, object, item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(value)) {
			why := map[string]func(string) string{"labels": kube.ReservedLabel, "annotations": kube.ReservedAnnotation}[field]
			entries, _ := value[field].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(entries)) {
				if why != nil && named[key] != "" && why(key) != "" {
					return &ReservedError{Field: named[key], Key: key,
						In: fmt.Sprintf("%s of %s %q", field, object.GetKind(), object.GetName()), Why: why(key)}
				}
			}
			if err := reservedIn(named, object, value[field]); err != nil {
				return err
			}
		}
	}
	return nil
}

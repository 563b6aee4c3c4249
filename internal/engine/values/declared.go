package values

import (
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// walk takes from a spec the fields that a chart declares: known fields, quantities in canonical form, and the defaults
// that the chart's own values cannot hold, since they belong to list entries. Values of a wrong type pass, so that the
// chart's schema refuses them by name.
type walk struct{ unknown []string }

// value returns the chart value of a spec value; nil if there is none. Reached says that the chart's values have a
// default for what is left out.
func (w *walk) value(s *apiextensionsv1.JSONSchemaProps, path string, value any, reached bool) (any, error) {
	switch {
	case value == nil:
		return nil, nil
	case s.Ref != nil:
		return w.typed(*s.Ref, path, value)
	case fields.IsQuantity(s):
		spelled, err := fields.Canonical(value)
		if err != nil {
			return nil, fmt.Errorf("%s: not a quantity, such as 500m or 1Gi", path)
		}
		return spelled, nil
	}
	switch value := value.(type) {
	case map[string]any:
		return w.object(s, path, value, reached && fields.Defaulted(s))
	case []any:
		return w.list(s, path, value)
	}
	return value, nil
}

// typed decodes a value by the Go type of the field whose schema is reused.
func (w *walk) typed(ref, path string, value any) (any, error) {
	typ, err := fields.Type(ref)
	if err != nil {
		return nil, err
	}
	out, unknown, err := decoder{typ}.canonical(path, value)
	w.unknown = append(w.unknown, unknown...)
	return out, err
}

func (w *walk) object(
	s *apiextensionsv1.JSONSchemaProps, path string, given map[string]any, reached bool,
) (any, error) {
	if s.Properties == nil && s.AdditionalProperties == nil {
		return runtime.DeepCopyJSON(given), nil
	}
	out := make(map[string]any, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		property := fields.AdditionalProperties(s)
		if property == nil {
			property = fields.Property(s, name)
		}
		if property == nil {
			w.unknown = append(w.unknown, path+"."+name)
			continue
		}
		passed, err := w.value(property, path+"."+name, given[name], reached && s.Properties != nil)
		if err != nil {
			return nil, err
		}
		if passed != nil {
			out[name] = passed
		}
	}
	for name, property := range s.Properties {
		if _, there := out[name]; !reached && !there && property.Default != nil {
			out[name] = fields.Default(&property)
		}
	}
	return out, nil
}

func (w *walk) list(s *apiextensionsv1.JSONSchemaProps, path string, given []any) (any, error) {
	if s.Items == nil {
		return runtime.DeepCopyJSONValue(given), nil
	}
	out := make([]any, 0, len(given))
	for i, item := range given {
		passed, err := w.value(s.Items.Schema, fmt.Sprintf("%s[%d]", path, i), item, false)
		if err != nil {
			return nil, err
		}
		out = append(out, passed)
	}
	return out, nil
}

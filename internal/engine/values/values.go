// Package values translates a custom resource into the values of its chart. It is a pure function of the resource: it
// reads no cluster and knows no field by name, so a field that is declared in api/v1, or in the chart's fields.yaml,
// reaches the templates without further code.
package values

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	helmvalues "github.com/operator-framework/helm-operator-plugins/pkg/values"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// Translator translates a custom resource into chart values. It is the interface of helm-operator-plugins.
type Translator = helmvalues.Translator

// For returns the translator of a kind: by its Go type and the declarations of its chart, or the spec unchanged if
// there are neither. The overrides of watches.yaml, in the syntax of helm --set, are laid over its result. It reads the
// chart now: another chart has another translator.
func For(kind schema.GroupVersionKind, c *chart.Chart, overrides map[string]string) Translator {
	t := &translator{overrides: overrides}
	t.declared, t.err = fields.Of(c, kind)
	t.core, t.typed = coreOf(kind)
	if t.err == nil {
		t.place = fields.SpecOf(kind, t.declared)
	}
	return t
}

// Unchanged returns the translator that takes a spec as values, with the overrides of watches.yaml over it.
func Unchanged(overrides map[string]string) Translator { return &translator{overrides: overrides} }

// Read translates, and lists the fields of the spec that neither Go type nor chart knows, for example spec.backup. They
// are not among the values: a newer CRD than that of the operator accepted them. Translators of other packages list
// none.
func Read(ctx context.Context, t Translator,
	resource *unstructured.Unstructured) (values chartutil.Values, unknown []string, err error) {
	if ours, is := t.(*translator); is {
		return ours.read(resource)
	}
	values, err = t.Translate(ctx, resource)
	return values, nil, err
}

type translator struct {
	core      decoder // of the Go type
	typed     bool
	declared  *fields.File // nil if the chart declares nothing
	place     fields.Place // of the spec
	overrides map[string]string
	err       error // the chart's fields.yaml is wrong; chart.LoadWatches refuses that
}

// Translate implements Translator.
func (t *translator) Translate(_ context.Context, resource *unstructured.Unstructured) (chartutil.Values, error) {
	values, _, err := t.read(resource)
	return values, err
}

func (t *translator) read(resource *unstructured.Unstructured) (values chartutil.Values, unknown []string, err error) {
	switch {
	case t.err != nil:
		return nil, nil, t.err
	case !t.typed && t.declared == nil:
		values, err = spec(resource)
	default:
		values, unknown, err = t.fields(resource.Object["spec"])
	}
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(unknown)
	return values, unknown, Override(values, t.overrides)
}

// fields takes from a spec the fields that the chart declares, and decodes the rest with the Go type.
func (t *translator) fields(spec any) (chartutil.Values, []string, error) {
	if err := printable("spec", spec); err != nil {
		return nil, nil, err
	}
	own, rest := t.split(spec)
	values, unknown := map[string]any{}, []string(nil)
	if t.typed {
		decoded, more, err := t.core.canonical("spec", rest)
		if err != nil {
			return nil, nil, err
		}
		values, unknown = decoded.(map[string]any), more
	} else if given, isMap := rest.(map[string]any); isMap {
		for name := range given {
			unknown = append(unknown, "spec."+name)
		}
	} else if rest != nil {
		return nil, nil, errors.New("spec: must be a map")
	}
	w := &walk{unknown: unknown}
	for name, value := range own {
		passed, err := w.value(fields.Property(t.declared.Spec, name), "spec."+name, value, true)
		if err != nil {
			return nil, nil, err
		}
		if passed != nil {
			values[name] = passed
		}
	}
	return values, w.unknown, nil
}

// split divides a spec into the fields that the chart declares and all others. The spec is not changed.
func (t *translator) split(spec any) (own map[string]any, rest any) {
	given, isMap := spec.(map[string]any)
	if t.declared == nil || !isMap {
		return nil, spec
	}
	own, others := map[string]any{}, map[string]any{}
	for name, value := range given {
		if fields.Property(t.declared.Spec, name) != nil {
			own[name] = value
		} else {
			others[name] = value
		}
	}
	return own, others
}

func spec(resource *unstructured.Unstructured) (chartutil.Values, error) {
	content, found := resource.Object["spec"]
	if !found {
		return chartutil.Values{}, nil
	}
	values, isMap := content.(map[string]any)
	if !isMap {
		return nil, errors.New("spec: must be a map")
	}
	return runtime.DeepCopyJSON(values), nil
}

// OverrideError reports that a value of watches.yaml cannot be laid over those of a spec.
type OverrideError struct {
	Key string
	Err error
	// Spec says that it could be laid over another spec.
	Spec bool
}

func (e *OverrideError) Error() string {
	return fmt.Sprintf("cannot apply overrideValues %s: %v", e.Key, e.Err)
}

// Unwrap returns the cause.
func (e *OverrideError) Unwrap() error { return e.Err }

// Hint returns what to do.
func (e *OverrideError) Hint() string {
	if e.Spec {
		return "leave that field out of the spec, or ask the platform team to correct that key of overrideValues in watches.yaml"
	}
	return "ask the platform team to correct that key of overrideValues in watches.yaml; the spec is not at fault"
}

// Override lays the overrides of watches.yaml over values: a null of a spec is none. The error is an OverrideError.
func Override(values map[string]any, overrides map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		above := strings.FieldsFunc(key, func(c rune) bool { return c == '.' || c == '[' })
		for at, i := values, 0; i < len(above)-1 && at != nil; i++ {
			if value, found := at[above[i]]; found && value == nil {
				delete(at, above[i])
			}
			at, _ = at[above[i]].(map[string]any)
		}
		override := key + "=" + overrides[key]
		if err := strvals.ParseInto(override, values); err == nil {
			continue
		} else if alone := strvals.ParseInto(override, map[string]any{}); alone != nil {
			return &OverrideError{Key: key, Err: err}
		}
		return &OverrideError{Key: key, Err: errors.New("the spec has a value of another type above it"), Spec: true}
	}
	return nil
}

// Package values turns a custom resource into the values of its chart. It is a pure function of the resource: it reads no
// cluster and knows no field by name, so a field that is declared in api/v1 flows through to the templates by itself.
package values

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	helmvalues "github.com/operator-framework/helm-operator-plugins/pkg/values"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Translator turns a custom resource into chart values. It is the interface of helm-operator-plugins.
type Translator = helmvalues.Translator

// For is the translator of a kind: typed for AppService, the spec as it stands for every other kind. The overrides of
// watches.yaml, in the syntax of helm --set, are laid over what it returns.
func For(kind schema.GroupVersionKind, overrides map[string]string) Translator {
	translate := spec
	if kind == v1.GroupVersion.WithKind(v1.Kind) {
		translate = typed
	}
	return helmvalues.TranslatorFunc(func(_ context.Context, resource *unstructured.Unstructured) (chartutil.Values, error) {
		values, err := translate(resource)
		if err != nil {
			return nil, err
		}
		return values, override(values, overrides)
	})
}

// typed decodes the spec into its Go type and back, so that quantities have one spelling and nothing that the type does
// not know gets to the chart. It goes by JSON: the unstructured converter cuts numbers that do not fit.
func typed(resource *unstructured.Unstructured) (chartutil.Values, error) {
	spec := resource.Object["spec"]
	if err := printable("spec", spec); err != nil {
		return nil, err
	}
	decoded, err := decode(spec)
	if err != nil {
		return nil, fieldError(spec, err)
	}
	content, err := json.Marshal(decoded)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	values := chartutil.Values{}
	if err := json.Unmarshal(content, &values); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return values, nil
}

func decode(spec any) (*v1.AppServiceSpec, error) {
	content, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	decoded := &v1.AppServiceSpec{}
	return decoded, utiljson.Unmarshal(content, decoded)
}

func spec(resource *unstructured.Unstructured) (chartutil.Values, error) {
	content, found := resource.Object["spec"]
	if !found {
		return chartutil.Values{}, nil
	}
	values, isMap := content.(map[string]any)
	if !isMap {
		return nil, errors.New("spec: it must be a map")
	}
	return runtime.DeepCopyJSON(values), nil
}

// OverrideError says that a value of watches.yaml cannot be laid over those of a spec.
type OverrideError struct {
	Key string
	Err error
}

func (e *OverrideError) Error() string {
	return fmt.Sprintf("cannot apply overrideValues %s: %v", e.Key, e.Err)
}

// Unwrap returns the cause.
func (e *OverrideError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *OverrideError) Hint() string {
	return "ask the platform team to correct that key of overrideValues in watches.yaml; the spec is not at fault"
}

func override(values chartutil.Values, overrides map[string]string) error {
	keys := make([]string, 0, len(overrides))
	for key := range overrides {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		if err := strvals.ParseInto(key+"="+overrides[key], values); err != nil {
			return &OverrideError{key, err}
		}
	}
	return nil
}

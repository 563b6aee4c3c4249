// Package values turns a custom resource into the values of its chart. It is a pure function of the resource: it reads no
// cluster and knows no field by name, so a field that is declared in api/v1 flows through to the templates by itself.
package values

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"

	helmvalues "github.com/operator-framework/helm-operator-plugins/pkg/values"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	if err := printable("spec", resource.Object["spec"]); err != nil {
		return nil, fmt.Errorf("cannot read spec: %w", err)
	}
	content, err := json.Marshal(resource.Object["spec"])
	if err != nil {
		return nil, fmt.Errorf("cannot read spec: %w", err)
	}
	var decoded v1.AppServiceSpec
	if err := utiljson.Unmarshal(content, &decoded); err != nil {
		return nil, fmt.Errorf("cannot read spec: %w", err)
	}
	if content, err = json.Marshal(decoded); err != nil {
		return nil, fmt.Errorf("cannot read spec: %w", err)
	}
	values := chartutil.Values{}
	if err := json.Unmarshal(content, &values); err != nil {
		return nil, fmt.Errorf("cannot read spec: %w", err)
	}
	return values, nil
}

func spec(resource *unstructured.Unstructured) (chartutil.Values, error) {
	values, found, err := unstructured.NestedMap(resource.Object, "spec")
	if err != nil {
		return nil, fmt.Errorf("cannot read spec: %w", err)
	}
	if !found {
		values = map[string]any{}
	}
	return values, nil
}

func override(values chartutil.Values, overrides map[string]string) error {
	keys := make([]string, 0, len(overrides))
	for key := range overrides {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		if err := strvals.ParseInto(key+"="+overrides[key], values); err != nil {
			return fmt.Errorf("cannot apply overrideValues %s: %w", key, err)
		}
	}
	return nil
}

package render

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/values"
)

// Platform holds what watches.yaml sets for the values of a kind, besides its chart. The zero value sets nothing.
type Platform struct {
	Kind schema.GroupVersionKind
	// Defaults lie beneath each spec.
	Defaults map[string]any
	// Namespaces are the fields that the defaults of namespaces may set.
	Namespaces []string
	// Overrides lie over each spec.
	Overrides map[string]string
}

// digest identifies the settings of a platform; empty if there are none.
func (p Platform) digest() string {
	if len(p.Defaults) == 0 && len(p.Overrides) == 0 {
		return ""
	}
	text, _ := json.Marshal([]any{p.Defaults, p.Overrides}) // it was YAML
	return digest.Of(text)
}

// Layers returns the defaults beneath the specs of a namespace, the highest first. The error is a defaults.Error.
func (r *Renderer) Layers(namespace defaults.Text) ([]defaults.Layer, error) {
	var layers []defaults.Layer
	if r.Broken != nil {
		return nil, nil // there is nothing that they could fit
	}
	if namespace.Digest != "" {
		layer, err := namespace.Read(r.Platform.Kind.Kind, r.Platform.Namespaces)
		if err != nil {
			return nil, err
		}
		if err := r.fit(layer); err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	if len(r.Platform.Defaults) > 0 {
		layers = append(layers, defaults.Layer{Source: defaults.ByPlatform, Values: r.Platform.Defaults})
	}
	return layers, nil
}

// FitPlatform returns an error, a defaults.Error, if the settings in watches.yaml do not fit the chart.
func (r *Renderer) FitPlatform() error {
	if err := values.Knows(r.Translator, r.Platform.Namespaces); err != nil {
		return &defaults.Error{Source: "namespaceDefaults of watches.yaml", Kind: r.Platform.Kind.Kind, Err: err}
	}
	return r.fit(defaults.Layer{Source: defaults.ByPlatform, Values: r.Platform.Defaults})
}

// fit returns an error that names the field if a layer sets what no spec may set. A field that a spec may only set
// together with others passes.
func (r *Renderer) fit(layer defaults.Layer) error {
	vals, err := values.OfDefaults(r.Translator, layer.Values)
	if err == nil {
		err = r.fitsSchema(layer.Values, vals)
	}
	if err != nil {
		return &defaults.Error{Source: layer.Source, Kind: r.Platform.Kind.Kind, Err: err}
	}
	return nil
}

// fitsSchema checks a layer, and the values that it was translated into, against values.schema.json, ignoring missing
// fields.
func (r *Renderer) fitsSchema(given map[string]any, vals chartutil.Values) error {
	found, err := r.schemas.validate(r.Chart, vals)
	if err != nil {
		return err
	}
	var wrong []string
	for _, misfit := range found {
		if !misfit.lack && says(given, misfit.path) {
			wrong = append(wrong, strings.TrimPrefix(fieldOf(vals, misfit.path), "spec.")+": "+misfit.says)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return errors.New(strings.Join(slices.Compact(wrong), "; "))
}

// Under returns a copy of a resource with layers beneath its spec, and which fields came from them. The resource is not
// changed.
func (r *Renderer) Under(resource *unstructured.Unstructured,
	layers []defaults.Layer) (*unstructured.Unstructured, []v1.DefaultsStatus) {
	spec, isMap := resource.Object["spec"].(map[string]any)
	if len(layers) == 0 || !isMap && resource.Object["spec"] != nil {
		return resource, nil
	}
	out := *resource
	out.Object = maps.Clone(resource.Object)
	filled, applied := defaults.Under(spec, values.PlaceOf(r.Translator), layers...)
	out.Object["spec"] = filled
	return &out, applied
}

// Values returns what the templates see of a resource as .Values: the values of its spec, with layers of defaults
// beneath it, over the defaults of the chart.
func (r *Renderer) Values(ctx context.Context, in Input, layers []defaults.Layer) (chartutil.Values, error) {
	resource, _ := r.Under(in.Resource, layers)
	vals, _, err := values.Read(ctx, r.Translator, resource)
	if err != nil {
		return nil, &InvalidSpecError{err}
	}
	_, input, err := r.input(run{resource: resource, vals: vals, capabilities: in.Capabilities})
	if err != nil {
		return nil, r.blame(err)
	}
	return input["Values"].(chartutil.Values), nil
}

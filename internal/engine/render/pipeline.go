package render

import (
	"context"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
)

// Input are the inputs of a rendering, besides the chart and the facts about the cluster.
type Input struct {
	// Resource as its user wrote it.
	Resource *unstructured.Unstructured
	// Defaults of its namespace.
	Defaults defaults.Text
	// Capabilities of the cluster: their APIVersions name the kinds that it serves besides the built-in ones, for
	// example gateway.networking.k8s.io/v1/HTTPRoute.
	Capabilities *chartutil.Capabilities
	// WithoutEnds leaves out the line end after each document, as earlier operators did.
	WithoutEnds bool
}

// Render renders one resource for a cluster with the given capabilities. Nothing else is known of it.
func (r *Renderer) Render(ctx context.Context, resource *unstructured.Unstructured,
	capabilities *chartutil.Capabilities) (*Result, error) {
	return r.Predict(ctx, Input{Resource: resource, Capabilities: capabilities}, nil)
}

// Predict returns what the operator would render a resource to, or the error with which it would refuse it. Facts
// returns what hooks may know about the cluster; nil if nothing is known. The operator itself drafts and finishes at
// different times, and its cache knows which resources are too large.
func (r *Renderer) Predict(
	ctx context.Context, in Input, facts func(context.Context, *Draft) (postrender.Facts, error),
) (*Result, error) {
	compact, err := kube.Compact(in.Resource, r.Bound)
	if err != nil {
		return nil, err
	}
	if _, _, err := kube.Expand(compact); err != nil {
		return nil, err
	}
	draft, err := r.Draft(ctx, in)
	if err != nil {
		return nil, err
	}
	known := postrender.Facts{}
	if facts != nil {
		if known, err = facts(ctx, draft); err != nil {
			return nil, err
		}
	}
	return r.Finish(ctx, draft, known)
}

// Draft executes the templates, with the defaults of the namespace and of the platform beneath the spec. The error is
// an InvalidSpecError, a SpecError, a ChartError, a defaults.Error or an limits.Error.
func (r *Renderer) Draft(ctx context.Context, in Input) (*Draft, error) {
	layers, err := r.Layers(in.Defaults)
	if err != nil {
		return nil, err
	}
	draft, err := r.draft(ctx, in, layers)
	if err != nil {
		return nil, r.blameLayer(layers, err, func(fewer []defaults.Layer) error {
			_, err := r.draft(ctx, in, fewer)
			return err
		})
	}
	if err := r.Bound.OfReferences(len(draft.References)); err != nil {
		return nil, err
	}
	return draft, nil
}

// Finish runs the hooks on the output of the templates and stamps it. A draft can be finished once. The error is a
// postrender.PodSecurityError, a violation.Error, a ChartError, a defaults.Error or an limits.Error.
func (r *Renderer) Finish(ctx context.Context, draft *Draft, facts postrender.Facts) (*Result, error) {
	result, err := r.finish(ctx, draft, facts)
	if r.Published.Is() {
		err = r.attributeObject(ctx, draft, facts, err)
	}
	if err != nil {
		return nil, r.blameLayer(draft.layers, err, func(fewer []defaults.Layer) error {
			again, err := r.draft(ctx, draft.of, fewer)
			if err == nil {
				_, err = r.finish(ctx, again, facts)
			}
			return err
		})
	}
	if err := r.Bound.OfRendered(result.Size(), appchart.Size(r.Chart)); err != nil {
		return nil, err
	}
	if r.Limit != nil {
		if err := r.Limit(result.Objects); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// blameLayer adds to an error the layer of defaults that it comes from, if there is no error without that layer.
func (r *Renderer) blameLayer(layers []defaults.Layer, err error, try func(fewer []defaults.Layer) error) error {
	for i, layer := range layers {
		if try(layers[i+1:]) == nil {
			return &defaults.Error{Source: layer.Source, Kind: r.Platform.Kind.Kind, Err: err}
		}
	}
	return err
}

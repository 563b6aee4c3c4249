package preview

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube/livestate"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/render/hooks"
)

// factsOf returns what hooks may know, besides the version of the configuration.
type factsOf func(context.Context, *render.Draft) (hooks.Facts, error)

// predict returns what the operator would render after a release, nil for none: as earlier operators did, which showed
// the checksums of configurations, if that is this release.
func predict(ctx context.Context, renderer *render.Renderer, in render.Input, last *Release, facts factsOf,
) (*render.Result, error) {
	if last == nil {
		return renderer.Predict(ctx, in, facts)
	}
	version, shown := "", false
	after := func(ctx context.Context, draft *render.Draft) (hooks.Facts, error) {
		known, err := facts(ctx, draft)
		if known.Configuration = configuration(in.Resource, last, draft); shown {
			known.Configuration = ""
		}
		version = cmp.Or(known.Configuration, version)
		return known, err
	}
	result, err := renderer.Predict(ctx, in, after)
	if err != nil || result.Digest == last.Digest || version == "" || last.as.Configuration != "" {
		return result, err
	}
	shown = true
	before, err := renderer.Predict(ctx, in, after)
	if err != nil || before.Digest == last.Digest {
		return before, err
	}
	return result, nil
}

// configuration returns the version of the configuration of a draft that comes after a release, nil for none.
func configuration(resource *unstructured.Unstructured, last *Release, draft *render.Draft) string {
	var record *livestate.Record
	if last != nil {
		record = last.as
	}
	return livestate.Configuration(resource, record, draft.Configuration()).Version
}

// Package translate makes a spec of a workload and the objects that belong to it:
//
//	choose (the objects of each role) → adapt the pods → place (the pieces that the operator accepts)
//	→ patch (what no field says: spec.podTemplate) → shorten (leave out defaults)
package translate

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// Workload returns what a workload and the objects that belong to it become, as a resource of a name.
func Workload(ctx context.Context, r Renderer, o *read.Objects, of *unstructured.Unstructured,
	name string) (*Application, error) {
	s, err := choose(o, of, name)
	if err != nil {
		return nil, err
	}
	if err := s.named(); err != nil {
		return nil, err
	}
	if err := r.place(ctx, s); err != nil {
		return nil, err
	}
	if err := r.patch(ctx, s); err != nil {
		return nil, err
	}
	r.shorten(ctx, s)
	if s.Rendered, err = r.made(ctx, s.App); err != nil {
		return nil, err
	}
	return s, s.keepsClaims()
}

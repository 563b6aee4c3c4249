package controller

import (
	"context"
	"fmt"
	"reflect"

	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/render"
)

// render tells what is desired: made anew, or from memory where nothing has changed that it depends on. An error after p.outline
// is set says why it may not become real.
func (r *Reconciler) render(ctx context.Context, p *pass) error {
	capabilities, version, err := r.Capabilities.Get(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the capabilities of the cluster: %w", err)
	}
	p.basis = basis{p.resource.GetGeneration(), version, p.resource.GetAnnotations()[v1.AnnotationRestartedAt]}
	var draft *render.Draft
	if p.memory.outline == nil || p.memory.basis != p.basis {
		if draft, err = r.draft(ctx, p, capabilities); err != nil {
			return err
		}
	}
	facts, err := r.References.Facts(ctx, p.resource, p.memory.references)
	if err != nil {
		return err
	}
	if draft != nil || !reflect.DeepEqual(p.memory.facts, facts) {
		if draft == nil {
			if draft, err = r.draft(ctx, p, capabilities); err != nil {
				return err
			}
		}
		if err := r.finish(ctx, p, draft, facts); err != nil {
			return err
		}
	}
	p.outline, p.desired = p.memory.outline, p.memory.desired
	return r.mayBecomeReal(p, facts)
}

// whole renders the objects again that memory has let go of.
func (r *Reconciler) whole(ctx context.Context, p *pass) error {
	if p.desired != nil {
		return nil
	}
	capabilities, version, err := r.Capabilities.Get(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the capabilities of the cluster: %w", err)
	}
	p.basis.capabilities = version
	facts := p.memory.facts
	draft, err := r.draft(ctx, p, capabilities)
	if err != nil {
		return err
	}
	if err := r.finish(ctx, p, draft, facts); err != nil {
		return err
	}
	p.outline, p.desired = p.memory.outline, p.memory.desired
	return nil
}

// draft carries out the templates and sees to it that what they render is watched.
func (r *Reconciler) draft(ctx context.Context, p *pass, capabilities *chartutil.Capabilities) (*render.Draft, error) {
	r.memory.unrendered(p.memory)
	draft, err := r.Renderer.Draft(ctx, p.resource, capabilities)
	if err != nil {
		return nil, rendering(err)
	}
	for _, kind := range draft.Kinds() {
		if err := r.Tracker.Ensure(ctx, kind); err != nil {
			return nil, err
		}
	}
	p.memory.references = draft.References
	r.References.Refer(client.ObjectKeyFromObject(p.resource), draft.References)
	return draft, nil
}

// finish puts what the templates made through the hooks and remembers it.
func (r *Reconciler) finish(ctx context.Context, p *pass, draft *render.Draft, facts postrender.Facts) error {
	desired, err := r.Renderer.Finish(ctx, draft, facts)
	if err != nil {
		return rendering(err)
	}
	r.memory.rendered(p.memory, desired, p.basis, facts)
	return nil
}

// mayBecomeReal looks for what stands in the way of what is desired, before anything is written.
func (r *Reconciler) mayBecomeReal(p *pass, facts postrender.Facts) error {
	p.advice = nil
	for _, missing := range dependency.Missing(p.memory.references, facts.There) {
		if missing.Need == dependency.Required {
			return &dependency.MissingError{Reference: missing}
		}
		p.advice = append(p.advice, missing)
	}
	return nil
}

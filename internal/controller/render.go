package controller

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"time"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/problem"
	"github.com/example/appservice-operator/internal/render"
)

// reloadPeriod is the time between two rollouts of a resource that changed content of references causes.
const reloadPeriod = 10 * time.Second

// inputs are what a rendering depends on, but for the facts.
type inputs struct {
	generation int64
	restarted  string
	surroundings
}

// surroundings are those inputs that do not belong to the resource.
type surroundings struct {
	chart        string // digest
	capabilities int64
}

// rendered is what a resource became, from what.
type rendered struct {
	inputs     inputs
	facts      postrender.Facts
	references []dependency.Reference
	// outline and packed are what it became.
	outline render.Outline
	packed  *render.Packed
	// claims of the routes that were rendered.
	claims hosts.Wanted
	// reloaded is when the content of references last changed.
	reloaded time.Time
}

// rendering is what a resource is to become. The zero value stands for one that cannot be rendered.
type rendering struct {
	*rendered
	// advice is what is missing, though pods start without it.
	advice []dependency.Reference
	// held are routes that stay as they are, because others serve what they claim.
	held []hosts.Held
	// reload is the time until changed content of references is taken into account; 0 if it is.
	reload time.Duration
}

// render returns what a resource is to become: rendered again, or from memory if nothing has changed that it depends on. With an error,
// what is returned may not become real.
func (r *Reconciler) render(ctx context.Context, s *scope) (rendering, error) {
	_, version, err := r.Capabilities.Get(ctx)
	if err != nil {
		return rendering{}, fmt.Errorf("cannot read the capabilities of the cluster: %w", err)
	}
	in := inputs{
		generation:   s.resource.GetGeneration(),
		restarted:    s.resource.GetAnnotations()[v1.AnnotationRestartedAt],
		surroundings: surroundings{chart: s.renderer.Identity().Digest, capabilities: version},
	}
	known := s.memory.rendered
	var draft *render.Draft
	var references []dependency.Reference
	if known != nil && known.inputs == in {
		references = known.references
	} else {
		s.memory.rendered = nil // what it was no longer counts if this fails
		if draft, err = r.draft(ctx, s); err != nil {
			return rendering{}, err
		}
		references = draft.References
	}
	facts, err := r.References.Facts(ctx, s.resource, references)
	if err != nil {
		return rendering{}, err
	}
	out := rendering{}
	fresh := &rendered{inputs: in, facts: facts, references: references}
	if known != nil {
		fresh.reloaded = known.reloaded
	}
	switch {
	case draft == nil && reflect.DeepEqual(known.facts, facts):
		fresh = known
	case draft == nil && sameButContent(known.facts, facts) && r.Clock.Since(known.reloaded) < reloadPeriod:
		fresh, out.reload = known, reloadPeriod-r.Clock.Since(known.reloaded)
	default:
		if known != nil && !reflect.DeepEqual(known.facts, facts) {
			fresh.reloaded = r.Clock.Now()
		}
		if draft == nil {
			if draft, err = r.draft(ctx, s); err != nil {
				s.memory.rendered = nil
				return rendering{}, err
			}
		}
		if err := r.finish(ctx, s, fresh, draft); err != nil {
			s.memory.rendered = nil
			return rendering{}, err
		}
	}
	s.memory.rendered, out.rendered = fresh, fresh
	out.advice, err = preflight(fresh)
	return out, err
}

// sameButContent reports whether facts differ in nothing but the content of what is there.
func sameButContent(a, b postrender.Facts) bool {
	a.There, b.There = withoutContent(a.There), withoutContent(b.There)
	return reflect.DeepEqual(a, b)
}

func withoutContent(there map[dependency.Object]dependency.State) map[dependency.Object]dependency.State {
	out := maps.Clone(there)
	for object, state := range out {
		state.Data = nil
		out[object] = state
	}
	return out
}

// draft carries out the templates and sees to it that what they render is watched.
func (r *Reconciler) draft(ctx context.Context, s *scope) (*render.Draft, error) {
	capabilities, _, err := r.Capabilities.Get(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read the capabilities of the cluster: %w", err)
	}
	draft, err := s.renderer.Draft(ctx, s.resource, capabilities)
	if err != nil {
		return nil, problem.RenderFailed(err)
	}
	for _, kind := range draft.Kinds() {
		if err := r.Tracker.Ensure(ctx, kind); err != nil {
			return nil, err
		}
	}
	r.References.Refer(s.name(), draft.References)
	return draft, nil
}

// finish puts what the templates made through the hooks.
func (r *Reconciler) finish(ctx context.Context, s *scope, into *rendered, draft *render.Draft) error {
	whole, err := s.renderer.Finish(ctx, draft, into.facts)
	if err != nil {
		return problem.RenderFailed(err)
	}
	into.outline, into.claims = whole.Outline, hosts.WantedBy(whole.Objects)
	s.memory.groups.set(whole.Groups())
	into.packed, err = whole.Pack()
	return err
}

// preflight looks for what stands in the way of what is rendered, before anything is written. It returns what is missing although
// pods start without it.
func preflight(wanted *rendered) (advice []dependency.Reference, err error) {
	if lacking := wanted.outline.Lacking; len(lacking) > 0 {
		return nil, &render.UnservedError{Lack: lacking[0]}
	}
	for _, missing := range dependency.Missing(wanted.references, wanted.facts.There) {
		if missing.Need == dependency.Required {
			return nil, &dependency.MissingError{Reference: missing}
		}
		advice = append(advice, missing)
	}
	return advice, nil
}

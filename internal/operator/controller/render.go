package controller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// reloadPeriod is the minimum time between two rollouts of a resource that are caused by changed content of its
// references.
const reloadPeriod = 10 * time.Second

// view returns the state of the cluster, and the desired state of a resource in it. Refused says why that may not be
// applied. The cluster is looked at again only if a kind is watched since: of the rendering, or of the recorded
// release.
func (r *Reconciler) view(ctx context.Context, s *scope) (wanted rendering, observed *livestate.Snapshot,
	refused, err error) {
	for again := true; again; again = r.Observer.Outgrown(observed) {
		if observed, err = r.Observer.Snapshot(ctx, s.resource, nil); err != nil {
			return wanted, nil, nil, err
		}
		if s.paused && s.resource.GetDeletionTimestamp() == nil {
			continue
		}
		if refused = observed.Sees(nil); refused == nil {
			wanted, refused = r.render(ctx, s, observed)
		}
		refused = cmp.Or(refused, r.watchRecorded(ctx, s, wanted, observed))
	}
	if refused == nil {
		refused = observed.Sees(wanted.keys())
	}
	return wanted, observed, refused, r.complete(ctx, s, observed, wanted.keys())
}

// render returns the desired state of a resource: rendered again, or from memory if none of its inputs has changed. If
// it returns an error, the rendering must not be applied.
func (r *Reconciler) render(ctx context.Context, s *scope, observed *livestate.Snapshot) (rendering, error) {
	known := s.memory.rendered
	s.memory.rendered = nil // it counts again only if this succeeds
	if s.unreadable != nil {
		return rendering{}, s.unreadable
	}
	_, version, err := r.Capabilities.Get(ctx)
	if err != nil {
		return rendering{}, fmt.Errorf("cannot read the capabilities of the cluster: %w", err)
	}
	in := inputs{
		generation:   s.resource.GetGeneration(),
		restarted:    s.resource.GetAnnotations()[v1.AnnotationRestartedAt],
		skipped:      s.resource.GetAnnotations()[v1.AnnotationSkipTask],
		surroundings: surroundings{chart: s.basis.Chart.Digest, defaults: s.basis.Defaults.Digest, capabilities: version},
	}
	var draft *render.Draft
	var references []reference.Reference
	var selectors map[kube.Key]map[string]string
	var requested []jobs.Run
	var generated []string
	if known != nil && known.inputs == in && known.outline.TooOld == nil {
		references, selectors, requested, generated = known.references, known.selectors, known.requested, known.generated
	} else {
		if draft, err = r.draft(ctx, s, false); err != nil {
			return rendering{}, err
		}
		references, selectors, requested, generated = draft.References, draft.Selectors(), draft.Runs, draft.Generated()
	}
	facts, err := r.References.Facts(ctx, s.resource, references)
	if err != nil {
		return rendering{}, err
	}
	content := contentOf(references, facts, known, observed.Record)
	facts.Content = content.Version
	if facts.Selectors, err = r.keptSelectors(ctx, s, observed, known, selectors); err != nil {
		return rendering{}, err
	}
	runs := jobs.Settle(requested, s.previous.Runs)
	if facts.Jobs, err = r.jobNames(ctx, s, runs, observed.Record); err != nil {
		return rendering{}, err
	}
	findGenerated(generated, observed, &facts)
	facts.Keys = knownKeys(known, observed)
	out := rendering{}
	fresh := &rendered{inputs: in, facts: facts, references: references, selectors: selectors, requested: requested,
		runs: runs, generated: generated, content: content}
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
			if draft, err = r.draft(ctx, s, false); err != nil {
				return rendering{}, err
			}
		}
		if err := r.finish(ctx, s, fresh, draft, observed); err != nil {
			return rendering{}, err
		}
		if err := r.watched(ctx, draft.Kinds()); err != nil {
			return rendering{rendered: fresh}, err
		}
	}
	s.memory.rendered, out.rendered = fresh, fresh
	err = out.preflight()
	return out, err
}

// contentOf returns the content that pods take, in the version that they run with: as recorded, unless it is as last
// rendered.
func contentOf(references []reference.Reference, facts postrender.Facts, known *rendered,
	record *livestate.Record) reference.Content {
	content := reference.ContentOf(references, facts.States)
	if record != nil {
		content = content.After(reference.ParseContent(record.References))
	}
	if known != nil {
		content = content.After(known.content)
	}
	return content
}

// sameButContent reports whether facts differ only in the content of existing objects.
func sameButContent(a, b postrender.Facts) bool {
	a.States, b.States = withoutContent(a.States), withoutContent(b.States)
	a.Content, b.Content = "", ""
	return reflect.DeepEqual(a, b)
}

func withoutContent(states map[reference.Object]reference.State) map[reference.Object]reference.State {
	out := maps.Clone(states)
	for object, state := range out {
		state.Data, state.Version = nil, ""
		out[object] = state
	}
	return out
}

// draft executes the templates.
func (r *Reconciler) draft(ctx context.Context, s *scope, withoutEnds bool) (*render.Draft, error) {
	capabilities, _, err := r.Capabilities.Get(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read the capabilities of the cluster: %w", err)
	}
	draft, err := s.renderer.Draft(ctx,
		render.Input{Resource: s.resource, Defaults: s.defaults, Capabilities: capabilities, WithoutEnds: withoutEnds})
	if err != nil {
		return nil, renderFailed(err)
	}
	r.References.Refer(s.name(), draft.References)
	return draft, nil
}

// watched ensures that the objects of some kinds are watched.
func (r *Reconciler) watched(ctx context.Context, kinds []schema.GroupVersionKind) error {
	for _, kind := range kinds {
		if err := r.Tracker.Ensure(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

// asRecorded returns a rendering as earlier operators made it, without the line ends of documents, if that is the
// recorded release: an upgrade alone changes nothing.
func (r *Reconciler) asRecorded(ctx context.Context, s *scope, record *livestate.Record, result *render.Result,
	facts postrender.Facts) (*render.Result, error) {
	if record == nil || record.Digest == result.Digest {
		return result, nil
	}
	draft, err := r.draft(ctx, s, true)
	if err != nil {
		return nil, err
	}
	before, err := s.renderer.Finish(ctx, draft, facts)
	if err != nil || before.Digest != record.Digest {
		return result, err
	}
	return before, nil
}

// finish runs the hooks on the output of the templates. The checksums of the recorded release stay without keys of
// Secrets, if it has none.
func (r *Reconciler) finish(ctx context.Context, s *scope, into *rendered, draft *render.Draft,
	observed *livestate.Snapshot) error {
	keyless, workloads := draft.Keyless(into.facts.Keys)
	if len(keyless) == 0 {
		return r.finishOnce(ctx, s, into, draft, observed.Record)
	}
	if observed.Record != nil {
		err := r.finishOnce(ctx, s, into, draft, observed.Record)
		if err != nil || into.outline.Digest == observed.Record.Digest {
			return err
		}
		if draft, err = r.draft(ctx, s, false); err != nil {
			return err
		}
	}
	keys, err := r.keysFor(ctx, s, observed, keyless, workloads)
	if err != nil {
		return err
	}
	into.facts.Keys = labels.Merge(keys, into.facts.Keys)
	return r.finishOnce(ctx, s, into, draft, observed.Record)
}

// finishOnce runs the hooks with the facts as they are.
func (r *Reconciler) finishOnce(ctx context.Context, s *scope, into *rendered, draft *render.Draft,
	record *livestate.Record) error {
	facts := into.facts
	result, err := s.renderer.Finish(ctx, draft, facts)
	if refused := is[*policy.Error](err) || is[*postrender.PodSecurityError](err); refused && record != nil {
		// the recorded release may have it
		recorded, failed := r.readRecorded(ctx, s, record)
		if failed != nil {
			return failed
		}
		facts.Recorded = recorded.Objects
		if draft, failed = r.draft(ctx, s, false); failed != nil {
			return failed
		}
		result, err = s.renderer.Finish(ctx, draft, facts)
	}
	if err != nil {
		return renderFailed(err)
	}
	if draft.Ends {
		if result, err = r.asRecorded(ctx, s, record, result, facts); err != nil {
			return renderFailed(err)
		}
	}
	result.CheckFields(ctx, r.Fields)
	into.jobs = wantedJobs(into, result.Objects)
	into.outline, into.routes, into.defaults = result.Outline, hosts.RequestedBy(result.Objects), draft.Defaults
	if s.memory.groups.set(result.Groups()) {
		r.logCertificates(ctx, s.resource.GetNamespace(), into.facts.Certificates)
	}
	into.packed, err = result.Pack()
	return err
}

// preflight checks, before anything is written, whether anything prevents the rendered pods from running. It notes what
// is missing although pods start without it, or because the stage `before` makes it.
func (w *rendering) preflight() error {
	if err := w.outline.Served(); err != nil {
		return err
	}
	for _, missing := range reference.Missing(w.references, w.facts.States) {
		switch {
		case missing.Need != reference.Required:
			w.advice = append(w.advice, missing)
		case slices.Contains(w.outline.Makes, missing.Kind+"/"+missing.Name):
			w.owed = cmp.Or(w.owed, error(&reference.MissingError{Reference: missing}))
		default:
			return &reference.MissingError{Reference: missing}
		}
	}
	return nil
}

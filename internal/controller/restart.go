package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/kube/livestate"
	"github.com/example/appservice-operator/internal/kube/reference"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/render/hooks"
)

// recorded is what is remembered of the recorded release of a resource that waits.
type recorded struct {
	digest     string
	keys       []kube.Key
	references []reference.Reference
	// request of the user and content that the pods were last restarted for.
	request string
	content reference.Content
	// generated are the versions of the values in Secrets that they were last restarted for, by name.
	generated map[string]string
}

// restart restarts the pods of the recorded release of a resource that waits, if its user asks for that, or if content
// that they take has changed, or values that the operator made. The error is a reference.MissingError if the
// release lacks something.
func (r *Reconciler) restart(ctx context.Context, s *scope, wanted rendering, a attempt) attempt {
	known, err := r.recorded(ctx, s, a.there.Record)
	if err != nil {
		a.err = err
		return a
	}
	references := known.references
	if wanted.rendered != nil {
		references = slices.Concat(references, wanted.references)
	}
	r.References.Refer(s.name(), references)
	facts, err := r.References.Facts(ctx, s.resource, known.references)
	if err != nil {
		a.err = err
		return a
	}
	for _, missing := range reference.Missing(known.references, facts.There) {
		if missing.Need == reference.Required {
			a.err = &reference.MissingError{Reference: missing}
			return a
		}
	}
	next := *known
	next.content = reference.ContentOf(known.references, facts.There).After(known.content)
	next.request = s.resource.GetAnnotations()[v1.AnnotationRestartedAt]
	next.generated = generatedSince(known.generated, a.there.Objects)
	made := !maps.Equal(next.generated, known.generated)
	wait := reloadPeriod - r.Clock.Since(a.there.Record.Made)
	switch {
	case next.request == known.request && next.content == known.content && !made:
		return a
	case next.request == known.request && !made && wait > 0:
		a.reload = wait
		return a
	}
	facts.Content, facts.Generated = next.content.Version, next.generated
	return r.again(ctx, s, wanted, a, facts, &next)
}

// recorded returns what is remembered of a recorded release.
func (r *Reconciler) recorded(ctx context.Context, s *scope, record *livestate.Record) (*recorded, error) {
	if known := s.memory.recorded; known != nil && known.digest == record.Digest {
		return known, nil
	}
	objects, err := r.lastGoodOf(ctx, s, record)
	if err != nil {
		return nil, err
	}
	known := &recorded{digest: record.Digest, references: reference.Of(objects.Objects),
		content: reference.ParseContent(record.References), generated: hooks.GeneratedVersions(objects.Objects)}
	for _, object := range objects.Objects {
		known.keys = append(known.keys, kube.KeyOf(object))
		if template := reference.PodTemplate(object); template != nil && known.request == "" {
			known.request, _, _ = unstructured.NestedString(template, "metadata", "annotations", v1.AnnotationRestartedAt)
		}
	}
	s.memory.recorded = known
	return known, nil
}

// lastGoodOf returns the recorded release, which is read once in a reconcile.
func (r *Reconciler) lastGoodOf(ctx context.Context, s *scope, record *livestate.Record) (*release.Recorded, error) {
	if s.lastGood == nil || s.lastGoodOf != record.UID {
		content, err := r.Actor.LastGood(ctx, s.resource, record)
		if err != nil {
			return nil, err
		}
		s.lastGood, s.lastGoodOf = content, record.UID
	}
	return s.lastGood, nil
}

// again writes the recorded release with other annotations of pods, and records that.
func (r *Reconciler) again(ctx context.Context, s *scope, wanted rendering, a attempt, facts hooks.Facts,
	next *recorded) attempt {
	began, record := r.Clock.Now(), a.there.Record
	before, err := r.lastGoodOf(ctx, s, record)
	if err != nil {
		a.err = err
		return a
	}
	desired, err := render.Again(ctx, s.resource, before.Chart, before.Config, before.Manifest, facts, hooks.Restarts)
	if err != nil {
		a.err = err
		return a
	}
	next.digest = desired.Digest
	if desired.Digest == record.Digest { // its pods do not restart
		s.memory.recorded = next
		return a
	}
	labels := map[string]string{v1.LabelChartDigest: record.ChartDigest, v1.LabelRenderedBy: record.RenderedBy,
		v1.LabelReferences: next.content.String()}
	if record.Defaults != "" {
		labels[v1.LabelDefaults] = record.Defaults
	}
	plan := release.CompareRestarted(before.Objects, desired.Objects, a.there.Objects)
	task := release.Task{Owner: s.resource, Chart: before.Chart, Desired: desired, Snapshot: a.there, Plan: plan,
		State: release.OutOfDate, Labels: labels}
	if a.err = r.alive(ctx, s); a.err == nil && !plan.Empty() {
		_, a.err = r.Actor.Write(ctx, task)
	}
	if a.err == nil {
		a.err = r.Actor.Record(ctx, task, nil)
	}
	there, err := r.observe(ctx, s, wanted)
	if err != nil {
		a.err = errors.Join(a.err, err)
		return a
	}
	if a.there = there; a.err != nil {
		return a
	}
	s.memory.recorded = next
	what := release.ActionOf(task.State)
	log.FromContext(ctx).Info("pods of the recorded release restarted", "revision", there.Record.Revision, "changes",
		plan.String())
	r.event(s, corev1.EventTypeNormal, what.Event, fmt.Sprintf(what.Note, there.Record.Revision, plan))
	r.Metrics.Acted(what.Metric, r.Clock.Since(began))
	return a
}

package controller

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
)

// restart restarts the pods of the recorded release of a resource that waits, if its user requests that, or if content
// that they take has changed, or values that the operator made. The error is a reference.MissingError if the
// release lacks something.
func (r *Reconciler) restart(ctx context.Context, s *scope, wanted rendering, a attempt) attempt {
	known, err := r.recorded(ctx, s, a.observed.Record)
	if err != nil {
		a.err = err
		return a
	}
	facts, err := r.factsOf(ctx, s, wanted, known.references)
	if a.err = err; err != nil {
		return a
	}
	next := *known
	next.content = reference.ContentOf(known.references, facts.States).After(known.content)
	if a.hold.by != byStage && a.observed.Record.ReturnedFrom == "" { // else a request is one to try again what failed
		next.request = s.resource.GetAnnotations()[v1.AnnotationRestartedAt]
	}
	next.generated = generatedSince(known.generated, a.observed.Objects)
	present, err := wanted.objects()
	if err != nil {
		a.err = err
		return a
	}
	atOnce := next.request != known.request || !maps.Equal(next.generated, known.generated) || known.scales(present)
	wait := reloadPeriod - r.Clock.Since(a.observed.Record.Made)
	switch {
	case !atOnce && next.content == known.content:
		return a
	case !atOnce && wait > 0:
		a.reload = wait
		return a
	}
	facts.Content, facts.Generated = next.content.Version, next.generated
	return r.again(ctx, s, wanted, a, facts, &next)
}

// again writes the recorded release with other annotations of pods, and records that.
func (r *Reconciler) again(ctx context.Context, s *scope, wanted rendering, a attempt, facts postrender.Facts,
	next *recorded) attempt {
	record := a.observed.Record
	before, err := r.readRecorded(ctx, s, record)
	if err != nil {
		a.err = err
		return a
	}
	present, err := wanted.objects()
	if err != nil {
		a.err = err
		return a
	}
	desired, err := render.Again(ctx, s.resource, before.Chart, before.Config, before.Manifest, facts, postrender.Restarts,
		postrender.Sizes(present))
	if err != nil {
		a.err = err
		return a
	}
	if desired.Digest == record.Digest { // its pods do not restart
		next.replicas = replicasOf(desired.Objects)
		s.memory.recorded = next
		return a
	}
	labels := labelsOf(record)
	labels[v1.LabelReferences] = next.content.String()
	if labels[v1.LabelLastReady] = s.lastReady(a.observed); s.wasReady(record) {
		labels[v1.LabelReady] = "true"
	}
	if record.ReturnedFrom != "" {
		labels[v1.LabelReturnedFrom] = record.ReturnedFrom
	}
	if record.Rollout != "" { // after a return, or during the stage `before` of a new chart: it keeps its place
		labels[v1.LabelRollout] = record.Rollout
	}
	writes := plan.CompareRestarted(before.Objects, desired.Objects, a.observed.Objects)
	task := release.Task{Owner: s.resource, Chart: before.Chart, Desired: desired, Snapshot: a.observed, Plan: writes,
		State: plan.OutOfDate, Labels: labels, Source: before.Source, Kept: true}
	if _, a = r.commit(ctx, s, wanted, task, a); a.err != nil || a.observed.Record == nil {
		return a
	}
	next.record, next.replicas = a.observed.Record.UID, replicasOf(desired.Objects)
	s.memory.recorded = next
	what, revision := plan.ActionOf(task.State), a.observed.Record.Revision
	log.FromContext(ctx).Info("pods of the recorded release restarted", "revision", revision, "changes", writes.String())
	r.event(s, corev1.EventTypeNormal, what.Event, fmt.Sprintf(what.Note, revision, writes))
	r.Metrics.Acted(what.Verb, a.took)
	return a
}

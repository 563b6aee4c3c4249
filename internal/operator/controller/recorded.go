package controller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
)

// recorded returns the memory of a recorded release.
func (r *Reconciler) recorded(ctx context.Context, s *scope, record *livestate.Record) (*recorded, error) {
	if known := s.memory.recorded; known != nil && known.record == record.UID {
		return known, nil
	}
	objects, err := r.readRecorded(ctx, s, record)
	if err != nil {
		return nil, err
	}
	known := &recorded{record: record.UID, references: reference.Of(objects.Objects),
		content: reference.ParseContent(record.References), generated: postrender.GeneratedVersions(objects.Objects),
		replicas: replicasOf(objects.Objects)}
	for _, object := range objects.Objects {
		known.keys = append(known.keys, kube.KeyOf(object))
		if stage.Of(object) == stage.Before {
			known.before = append(known.before, kube.KeyOf(object))
		}
		if template := reference.PodTemplate(object); template != nil && known.request == "" {
			known.request, _, _ = unstructured.NestedString(template, "metadata", "annotations", v1.AnnotationRestartedAt)
		}
	}
	if objects.Source != nil && objects.Source.Returned != nil {
		known.returned = *objects.Source.Returned
	}
	s.memory.recorded = known
	return known, nil
}

// readRecorded returns a recorded release. A reconcile reads one again only if it read another one since.
func (r *Reconciler) readRecorded(ctx context.Context, s *scope, record *livestate.Record) (*release.Recorded, error) {
	if s.recorded == nil || s.recorded.Record.UID != record.UID {
		content, err := r.Actor.ReadRecorded(ctx, s.resource, record)
		if err != nil {
			return nil, err
		}
		s.recorded = content
	}
	return s.recorded, nil
}

// factsOf returns the facts about the references of a recorded release, which is looked at again when they change, as
// when those of the rendered one do. The error is a reference.MissingError if something is missing without which no
// pod starts.
func (r *Reconciler) factsOf(ctx context.Context, s *scope, wanted rendering,
	references []reference.Reference) (postrender.Facts, error) {
	all := references
	if wanted.rendered != nil {
		all = slices.Concat(references, wanted.references)
	}
	r.References.Refer(s.name(), all)
	facts, err := r.References.Facts(ctx, s.resource, references)
	if err != nil {
		return facts, err
	}
	for _, missing := range reference.Missing(references, facts.States) {
		if missing.Need == reference.Required {
			return facts, &reference.MissingError{Reference: missing}
		}
	}
	return facts, nil
}

// replicasOf returns the number of replicas of objects that render it.
func replicasOf(objects []*unstructured.Unstructured) map[kube.Key]int64 {
	out := map[kube.Key]int64{}
	for _, object := range objects {
		key := kube.KeyOf(object)
		if number, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas"); found &&
			kube.TraitsOf(key.GroupKind).Scales {
			out[key] = number
		}
	}
	return out
}

// scales reports whether workloads of the recorded release are rendered with another number of replicas at present. An
// autoscaler keeps its own.
func (r *recorded) scales(present []*unstructured.Unstructured) bool {
	now := replicasOf(present)
	for key, number := range r.replicas {
		if asked, rendered := now[key]; rendered && asked != number {
			return true
		}
	}
	return false
}

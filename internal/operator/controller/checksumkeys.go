package controller

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
)

// knownKeys returns the keys of checksums that Secrets have, by name: as they are live, or else as last rendered. If
// that is the recorded release, it counts more: live ones that differ were changed by others.
func knownKeys(known *rendered, observed *livestate.Snapshot) map[string]string {
	keys := map[string]string{}
	maps.Copy(keys, postrender.ChecksumKeys(slices.Collect(maps.Values(observed.Objects))))
	switch {
	case known == nil:
		return keys
	case observed.Record != nil && observed.Record.Digest == known.outline.Digest:
		return labels.Merge(keys, known.facts.Keys)
	}
	return labels.Merge(known.facts.Keys, keys)
}

// keysFor returns the keys of checksums for Secrets that have none: those of the recorded release, of Secrets that
// will be adopted, or new ones. Pods continue to show the checksums that they show without a key.
func (r *Reconciler) keysFor(ctx context.Context, s *scope, observed *livestate.Snapshot, secrets []string,
	workloads []*unstructured.Unstructured) (map[string]string, error) {
	keys, shown, known := map[string]string{}, []string(nil), false
	if observed.Record != nil {
		recorded, err := r.readRecorded(ctx, s, observed.Record)
		if err != nil && !is[*release.DamagedError](err) {
			return nil, err
		}
		if known = err == nil; known {
			keys = labels.Merge(keys, postrender.ChecksumKeys(recorded.Objects))
			shown = postrender.ChecksumsOf(recorded.Objects)
		}
	}
	for _, name := range secrets {
		if keys[name] != "" {
			continue
		}
		live, err := r.keyless(ctx, s, observed, name)
		if err != nil {
			return nil, err
		}
		if maps.Copy(keys, postrender.ChecksumKeys([]client.Object{live})); keys[name] != "" {
			continue
		}
		if !known && live.GetAnnotations()[v1.AnnotationStamp] != "" {
			if shown, err = r.shown(ctx, workloads, s.resource.GetNamespace()); err != nil {
				return nil, err
			}
			known = true
		}
		keys[name] = postrender.NewChecksumKey(s.resource.GetUID(), name, shown)
	}
	return keys, nil
}

// keyless returns the metadata of a live Secret: one that the resource has, or will adopt; without a stamp if an
// operator has written none.
func (r *Reconciler) keyless(ctx context.Context, s *scope, observed *livestate.Snapshot,
	name string) (client.Object, error) {
	if live := observed.Objects[secretKey(name)]; live != nil {
		return live, nil
	}
	live := kube.Metadata(kube.SecretKind)
	if observed.Record != nil || release.AdoptionOf(s.resource) == nil {
		return live, nil
	}
	key := client.ObjectKey{Namespace: s.resource.GetNamespace(), Name: name}
	return live, client.IgnoreNotFound(r.Live.Get(ctx, key, live))
}

// shown returns the checksums that live workloads show, of a release that no record tells.
func (r *Reconciler) shown(ctx context.Context, workloads []*unstructured.Unstructured,
	namespace string) ([]string, error) {
	var live []*unstructured.Unstructured
	for _, rendered := range workloads {
		object := kube.Object(rendered.GroupVersionKind())
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: rendered.GetName()}, object)
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		live = append(live, object)
	}
	return postrender.ChecksumsOf(live), nil
}

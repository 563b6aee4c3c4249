package controller

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/kube/livestate"
	"github.com/example/appservice-operator/internal/render/hooks"
)

// knownKeys returns the keys of checksums that Secrets have, by name: as last rendered, or else as they are live.
func knownKeys(known *rendered, there *livestate.Snapshot) map[string]string {
	keys := map[string]string{}
	maps.Copy(keys, hooks.ChecksumKeys(slices.Collect(maps.Values(there.Objects))))
	if known != nil {
		maps.Copy(keys, known.facts.Keys)
	}
	return keys
}

// keysFor returns the keys of checksums for Secrets that have none: those of the recorded release, of Secrets that
// will be adopted, or new ones. Pods continue to show the checksums that they show without a key.
func (r *Reconciler) keysFor(ctx context.Context, s *scope, there *livestate.Snapshot,
	secrets, checksums []string) (map[string]string, error) {
	keys, shown := map[string]string{}, []string(nil)
	if there.Record != nil {
		recorded, err := r.lastGoodOf(ctx, s, there.Record)
		switch {
		case err == nil:
			keys = labels.Merge(keys, hooks.ChecksumKeys(recorded.Objects))
			_, shown = hooks.Revealing(recorded.Objects)
		case !is[*release.DamagedError](err):
			return nil, err
		}
	}
	for _, name := range secrets {
		if keys[name] != "" {
			continue
		}
		live, err := r.keyless(ctx, s, there, name)
		if err != nil {
			return nil, err
		}
		if maps.Copy(keys, hooks.ChecksumKeys([]client.Object{live})); keys[name] == "" {
			if live.GetAnnotations()[v1.AnnotationStamp] != "" && shown == nil {
				shown = checksums
			}
			keys[name] = hooks.NewChecksumKey(s.resource.GetUID(), name, shown)
		}
	}
	return keys, nil
}

// keyless returns the metadata of a live Secret: one that the resource has, or will adopt; without a stamp if an
// operator has written none.
func (r *Reconciler) keyless(ctx context.Context, s *scope, there *livestate.Snapshot,
	name string) (client.Object, error) {
	if live := there.Objects[secretKey(name)]; live != nil {
		return live, nil
	}
	live := kube.Metadata(kube.SecretKind)
	if there.Record != nil || release.AdoptionOf(s.resource) == nil {
		return live, nil
	}
	key := client.ObjectKey{Namespace: s.resource.GetNamespace(), Name: name}
	return live, client.IgnoreNotFound(r.Live.Get(ctx, key, live))
}

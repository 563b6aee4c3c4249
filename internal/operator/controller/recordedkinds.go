package controller

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/watch"
)

// watchRecorded watches the kinds of a recorded release that is not rendered, until objects were found to match in this
// process: the chart in use may not name a kind of objects that must be deleted.
func (r *Reconciler) watchRecorded(ctx context.Context, s *scope, wanted rendering,
	observed *livestate.Snapshot) error {
	if observed.Record == nil || !s.memory.verified.None() ||
		wanted.rendered != nil && observed.Record.Digest == wanted.outline.Digest {
		return nil
	}
	recorded, err := r.readRecorded(ctx, s, observed.Record)
	if damaged := (*release.DamagedError)(nil); errors.As(err, &damaged) {
		return nil // the next release heals it
	}
	if err != nil {
		return err
	}
	var unwatched []kube.Key
	var why error
	for _, object := range recorded.Objects {
		key := kube.KeyOf(object)
		if slices.Contains(wanted.keys(), key) {
			continue
		}
		var untracked *watch.UntrackedError
		switch err := r.Tracker.Ensure(ctx, object.GroupVersionKind()); {
		case err == nil, meta.IsNoMatchError(err): // a cluster that does not serve a kind has no objects of it
		case errors.As(err, &untracked) && !errors.Is(err, kube.ErrUnlisted):
			unwatched, why = append(unwatched, key), err
		default:
			return err
		}
	}
	if wanted.rendered != nil {
		r.emitUnwatched(ctx, s, unwatched, why)
	}
	return nil
}

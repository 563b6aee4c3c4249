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

// watchRecorded watches the kinds of the recorded release while another one is rendered, or none: the chart in use may
// not name a kind of objects that must be deleted. Once objects were found to match in this process, all their kinds
// are watched.
func (r *Reconciler) watchRecorded(ctx context.Context, s *scope, wanted rendering, there *livestate.Snapshot) error {
	if there.Record == nil || !s.memory.verified.None() ||
		wanted.rendered != nil && there.Record.Digest == wanted.outline.Digest {
		return nil
	}
	recorded, err := r.readRecorded(ctx, s, there.Record)
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

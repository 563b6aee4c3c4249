package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/appservice-operator/internal/compare"
	"github.com/example/appservice-operator/internal/live"
	"github.com/example/appservice-operator/internal/render"
)

// diffFleet compares all resources of a cluster. It lists them; it makes no request for each resource.
func (s *shell) diffFleet(ctx context.Context, d *diffing, w *world, before, after *compare.Charts) error {
	if d.output != asText {
		return fmt.Errorf("--output=%s: with --all-namespaces it can only be %s", d.output, asText)
	}
	var releases map[types.UID]*live.Release
	var err error
	if d.from == "" {
		if releases, err = w.cluster.Releases(ctx, ""); err != nil {
			return err
		}
	}
	found := false
	for _, kind := range compare.Kinds(before, after) {
		serves := after
		if after.Renderers[kind] == nil {
			serves = before
		}
		subjects, err := w.cluster.Subjects(ctx, kind, "", serves.Selectors[kind])
		if err != nil {
			return err
		}
		for _, charts := range []*compare.Charts{before, after} {
			if renderer := charts.Renderers[kind]; renderer != nil {
				w.cluster.Scope(renderer)
			}
		}
		pairs, err := w.pairs(ctx, subjects, releases, before.Renderers[kind], after.Renderers[kind])
		if err != nil {
			return err
		}
		fleet := &compare.Fleet{Kind: kind.Kind}
		for i, subject := range subjects {
			fleet.Add(subject, pairs[i].before, pairs[i].after)
		}
		if _, err := io.WriteString(s.Out, fleet.String()); err != nil {
			return err
		}
		found = found || !fleet.Empty()
	}
	if found {
		return errFound
	}
	return nil
}

// pair is the rendering of a resource before and after.
type pair struct{ before, after compare.Outcome }

// pairs renders all subjects in parallel. Before is the last release if it is known, else the subject rendered with the old charts.
func (w *world) pairs(ctx context.Context, subjects []compare.Subject, releases map[types.UID]*live.Release, before, after *render.Renderer) ([]pair, error) {
	pairs := make([]pair, len(subjects))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range subjects {
		workers.Go(func() error {
			subject := subjects[i]
			released := releases[subject.Resource.GetUID()]
			if released != nil {
				subject.Facts.Content = released.Content.Version
			}
			pairs[i].after = subject.Render(ctx, after, w.capabilities)
			switch {
			case released == nil:
				pairs[i].before = subject.Render(ctx, before, w.capabilities)
			case released.Digest != "" && released.Digest == pairs[i].after.Digest:
				pairs[i].before = pairs[i].after // same digest: no need to decompress the release
			default:
				pairs[i].before = releasedOf(released)
				if kept := pairs[i].before.Selectors(); !pairs[i].after.Keeps(kept) {
					subject.Facts.Selectors = kept
					pairs[i].after = subject.Render(ctx, after, w.capabilities)
				}
			}
			return ctx.Err()
		})
	}
	return pairs, workers.Wait()
}

package watch

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// events lets a controller handle the events of the objects of one kind. Unlike source.Kind it waits for nothing: that
// waits for all kinds of the cache, and ends the manager if one of them cannot be listed.
func events(ctx context.Context, controller controller.Controller, from cache.Cache, object client.Object,
	handler handler.EventHandler) error {
	informer, err := from.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", object.GetObjectKind().GroupVersionKind().Kind, err)
	}
	return controller.Watch(&source.Informer{Informer: informer, Handler: handler})
}

// gate is a source without events. It blocks the workers of its controller until the function returns.
type gate func(context.Context) error

// Start implements source.Source.
func (g gate) Start(context.Context, queue) error { return nil }

// String is for the log.
func (g gate) String() string { return "a look at each kind" }

// WaitForSync implements source.SyncingSource.
func (g gate) WaitForSync(ctx context.Context) error {
	if err := g(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // the manager ends
}

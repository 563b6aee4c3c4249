package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Bookkeeping is the priority of reconciles that are not caused by a change of a resource, below the usual 0.
const Bookkeeping = handler.LowPriority

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Later adds a request behind those that users wait for.
func Later(q workqueue.TypedRateLimitingInterface[reconcile.Request], name types.NamespacedName) {
	request := reconcile.Request{NamespacedName: name}
	if priorities, is := q.(priorityqueue.PriorityQueue[reconcile.Request]); is {
		priorities.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(Bookkeeping)}, request)
		return
	}
	q.Add(request)
}

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

// settleTimeout is how long a reconcile waits for the first list of a kind, and the start of a controller for one that
// was answered with an error.
const settleTimeout = 15 * time.Second

// settled waits for the first answer about each kind, and then until those that were answered with an error are seen,
// or the time for that is over. Until the API server has answered, it is not known what a missing object means.
func settled(ctx context.Context, informers *kube.Informers, kinds ...schema.GroupVersionKind) error {
	if err := informers.Answered(ctx, kinds...); err != nil {
		return err
	}
	return informers.Settle(ctx, time.Now().Add(settleTimeout), kinds...)
}

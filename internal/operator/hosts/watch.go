package hosts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// patience is how long to wait for the live routes of a kind that a resource does not render. It is only used up if the
// operator may not list them: then there are none that it could take hosts from.
const patience = 5 * time.Second

// queue is the queue for requests to reconcile.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// feed is what an informer shows: the routes of a kind, those with the operator's label or all others. The wildcards of
// these are recorded apart.
type feed struct {
	schema.GroupKind
	others, wildcards bool
}

// watched is a feed that is watched.
type watched struct {
	synced func() bool // nil if the cluster does not serve it
	missed atomic.Bool // not listed in time
}

// Follow learns from the statuses of a kind's resources which hosts they serve, until this process reconciles them.
func (h *Hosts) Follow(informer cache.Informer) error {
	registration, err := informer.AddEventHandler(events(func(object client.Object, deleted bool) {
		if deleted {
			h.Gone(ownerOf(object).GroupKind, client.ObjectKeyFromObject(object))
			return
		}
		h.learn(object)
	}))
	if err != nil {
		return err
	}
	h.watching.Lock()
	defer h.watching.Unlock()
	h.resources = append(h.resources, registration.HasSynced)
	return nil
}

// Wake returns the source of requests for resources of a kind for which a path became free, or ceased to be.
func (h *Hosts) Wake(kind schema.GroupKind) source.Source {
	return source.Func(func(_ context.Context, q queue) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.queues[kind] = q
		return nil
	})
}

func (h *Hosts) wake(who owner) {
	if q := h.queues[who.GroupKind]; q != nil {
		q.Add(reconcile.Request{NamespacedName: who.NamespacedName})
	}
}

// watch waits until all live routes are known, and the statuses of all resources.
func (h *Hosts) watch(ctx context.Context, requested Requested) error {
	h.watching.Lock()
	resources := slices.Clone(h.resources)
	h.watching.Unlock()
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !toolscache.WaitForCacheSync(within.Done(), resources...) {
		return fmt.Errorf("cannot list all resources: no answer within %s", patience)
	}
	for _, kind := range routeKinds {
		rendered := slices.ContainsFunc(slices.Collect(maps.Keys(requested)),
			func(key kube.Key) bool { return key.GroupKind == kind })
		for _, from := range []feed{{GroupKind: kind}, {GroupKind: kind, others: true}} {
			if err := h.await(ctx, from, rendered); err != nil {
				return err
			}
		}
	}
	return nil
}

// await waits until a feed is listed, or patience is used up for one that the resource does not render.
func (h *Hosts) await(ctx context.Context, from feed, rendered bool) error {
	w, err := h.watchFeed(ctx, from, rendered)
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", from.Kind, err)
	}
	if w.synced == nil || w.synced() || !rendered && w.missed.Load() {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch {
	case toolscache.WaitForCacheSync(within.Done(), w.synced):
	case rendered:
		return fmt.Errorf("cannot list %s: no answer within %s", from.Kind, patience)
	case !w.missed.Swap(true):
		log.FromContext(ctx).Info("hosts of these routes are not known: they cannot be listed", "kind", from.Kind)
	}
	return nil
}

// watchFeed watches live routes. Whether the cluster serves the kind is checked once, and again if it is rendered.
func (h *Hosts) watchFeed(ctx context.Context, from feed, rendered bool) (*watched, error) {
	h.watching.Lock()
	defer h.watching.Unlock()
	if w := h.watched[from]; w != nil && (w.synced != nil || !rendered) {
		return w, nil
	}
	mapping, err := h.mapper.RESTMapping(from.GroupKind)
	if meta.IsNoMatchError(err) && !rendered {
		h.watched[from] = &watched{}
		return h.watched[from], nil
	}
	if err != nil {
		return nil, err
	}
	informers := h.own
	if from.others {
		informers = h.others
	}
	informer, err := informers.GetInformer(ctx, kube.Representation(mapping.GroupVersionKind),
		cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	registration, err := informer.AddEventHandler(events(
		func(object client.Object, deleted bool) { h.see(from, object, deleted) }))
	if err != nil {
		return nil, err
	}
	h.watched[from] = &watched{synced: registration.HasSynced}
	return h.watched[from], nil
}

func events(see func(object client.Object, deleted bool)) toolscache.ResourceEventHandler {
	show := func(object any, deleted bool) {
		if gone, unknown := object.(toolscache.DeletedFinalStateUnknown); unknown {
			object = gone.Obj
		}
		if object, ok := object.(client.Object); ok {
			see(object, deleted)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { show(object, false) },
		UpdateFunc: func(_, object any) { show(object, false) },
		DeleteFunc: func(object any) { show(object, true) },
	}
}

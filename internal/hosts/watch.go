package hosts

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/example/appservice-operator/internal/kube"
)

// patience is how long to wait for the live routes of a kind that a resource does not render. It is only used up if the operator may
// not list them: then there are none that it could take hosts from.
const patience = 5 * time.Second

// queue is the queue for requests to reconcile.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// watched is a kind whose objects make claims.
type watched struct {
	synced func() bool // nil if the cluster does not serve it
	missed atomic.Bool // not listed in time
}

// Wake returns the source of requests for resources of a kind for which a claim became free, or ceased to be.
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

// watch waits until all live routes are known. The informers are those of the kinds that charts render.
func (h *Hosts) watch(ctx context.Context, wanted Wanted) error {
	for _, kind := range []schema.GroupKind{ingressKind, routeKind} {
		rendered := false
		for key := range wanted {
			rendered = rendered || key.GroupKind == kind
		}
		w, err := h.watchKind(ctx, kind, rendered)
		if err != nil {
			return fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
		}
		if w.synced == nil || w.synced() || !rendered && w.missed.Load() {
			continue
		}
		within, cancel := context.WithTimeout(ctx, patience)
		synced := toolscache.WaitForCacheSync(within.Done(), w.synced)
		cancel()
		switch {
		case synced:
		case rendered:
			return fmt.Errorf("cannot list %s: no answer within %s", kind.Kind, patience)
		default:
			w.missed.Store(true)
		}
	}
	return nil
}

// watchKind watches the live routes of a kind. Whether the cluster serves it is checked once, and again if it is rendered.
func (h *Hosts) watchKind(ctx context.Context, kind schema.GroupKind, rendered bool) (*watched, error) {
	h.watching.Lock()
	defer h.watching.Unlock()
	if w := h.watched[kind]; w != nil && (w.synced != nil || !rendered) {
		return w, nil
	}
	mapping, err := h.mapper.RESTMapping(kind)
	if meta.IsNoMatchError(err) && !rendered {
		h.watched[kind] = &watched{}
		return h.watched[kind], nil
	}
	if err != nil {
		return nil, err
	}
	informer, err := h.informers.GetInformer(ctx, kube.Representation(mapping.GroupVersionKind), cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	registration, err := informer.AddEventHandler(h.events())
	if err != nil {
		return nil, err
	}
	h.watched[kind] = &watched{synced: registration.HasSynced}
	return h.watched[kind], nil
}

func (h *Hosts) events() toolscache.ResourceEventHandler {
	see := func(object any, deleted bool) {
		if gone, unknown := object.(toolscache.DeletedFinalStateUnknown); unknown {
			object = gone.Obj
		}
		if route, ok := object.(client.Object); ok {
			h.see(route, deleted)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { see(object, false) },
		UpdateFunc: func(_, object any) { see(object, false) },
		DeleteFunc: func(object any) { see(object, true) },
	}
}

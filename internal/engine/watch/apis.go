package watch

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// CRDKind is the kind that defines further APIs of the cluster. It is watched as metadata only.
var CRDKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// discoveryDelays are the delays after a change of a CRD until capabilities are read again: discovery follows a moment
// later, on a busy API server after several seconds.
var discoveryDelays = [...]time.Duration{time.Second, 5 * time.Second, 30 * time.Second}

// APIs requeues the resources that render kinds of a group when a CRD of that group is added, changed or deleted.
// Rendering lists those resources; invalidate causes the capabilities of the cluster to be read again.
func APIs(ctx context.Context, from cache.Cache, controller ctrl.Controller,
	rendering func(group string) []types.NamespacedName, invalidate func()) error {
	later := func(delay time.Duration, look func()) { time.AfterFunc(delay, look) }
	return events(ctx, controller, from, kube.Metadata(CRDKind), apiEvents(rendering, invalidate, later))
}

func apiEvents(rendering func(group string) []types.NamespacedName, invalidate func(),
	later func(time.Duration, func())) handler.EventHandler {
	changed := func(object client.Object, q queue) {
		_, group, _ := strings.Cut(object.GetName(), ".") // a CRD is named PLURAL.GROUP
		invalidate()                                      // even if nothing uses the kind yet
		for _, delay := range discoveryDelays {           // not by AddAfter: of several delays, a queue keeps the shortest
			later(delay, func() {
				for _, name := range rendering(group) {
					q.Add(reconcile.Request{NamespacedName: name})
				}
			})
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList { // discovery shows the APIs that are older than this process
				changed(e.Object, q)
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { changed(e.ObjectNew, q) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { changed(e.Object, q) },
	}
}

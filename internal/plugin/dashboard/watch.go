package dashboard

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Watch keeps the list up to date until the context ends, by one watch for each kind. It returns once all kinds were
// listed.
func (s *Server) Watch(ctx context.Context, informers ctrlcache.Cache) error {
	for _, kind := range s.cluster.Kinds {
		informer, err := informers.GetInformer(ctx, kube.Object(kind), ctrlcache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("cannot watch resources of kind %s: %w", kind.Kind, err)
		}
		if _, err := informer.AddEventHandler(s.handler(kind)); err != nil {
			return fmt.Errorf("cannot watch resources of kind %s: %w", kind.Kind, err)
		}
	}
	go func() { _ = informers.Start(ctx) }() // it ends with the context
	if !informers.WaitForCacheSync(ctx) {
		return ctx.Err()
	}
	return nil
}

func (s *Server) handler(kind schema.GroupVersionKind) cache.ResourceEventHandler {
	put := func(object any) {
		if resource, is := object.(*unstructured.Unstructured); is {
			resource = resource.DeepCopy()
			resource.SetGroupVersionKind(kind)
			s.rows.put(rowOf(resource, s.cluster.Now()))
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    put,
		UpdateFunc: func(_, object any) { put(object) },
		DeleteFunc: func(object any) {
			if unknown, is := object.(cache.DeletedFinalStateUnknown); is {
				object = unknown.Obj
			}
			if resource, is := object.(*unstructured.Unstructured); is {
				resource = resource.DeepCopy()
				resource.SetGroupVersionKind(kind)
				s.rows.remove(rowOf(resource, s.cluster.Now()).ID)
			}
		},
	}
}

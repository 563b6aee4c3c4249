package harness

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serve does in the cluster what makes objects ready elsewhere, until the context ends: controllers of other projects, clouds and
// administrators.
func (c *Cluster) serve(ctx context.Context) error {
	loadBalancers := cache.ByObject{Field: fields.OneTermEqualSelector("spec.type", string(corev1.ServiceTypeLoadBalancer))}
	seen, err := cache.New(c.Config, cache.Options{
		Scheme: c.Client.Scheme(), Mapper: c.Client.RESTMapper(), ByObject: map[client.Object]cache.ByObject{&corev1.Service{}: loadBalancers},
	})
	if err != nil {
		return fmt.Errorf("cannot make a cache: %w", err)
	}
	c.seen = seen
	go func() { _ = seen.Start(ctx) }()
	if err := c.serveIngressClasses(ctx); err != nil {
		return err
	}
	if err := c.serveVolumes(ctx); err != nil {
		return err
	}
	if err := follow(ctx, c, &corev1.Service{}, c.balance); err != nil {
		return err
	}
	if err := follow(ctx, c, &networkingv1.Ingress{}, c.certify); err != nil {
		return err
	}
	return follow(ctx, c, &corev1.PersistentVolumeClaim{}, c.provide)
}

// follow calls look with each object of a kind, and with each new version of it. The kind has to be served.
func follow[T client.Object](ctx context.Context, c *Cluster, kind T, look func(context.Context, T)) error {
	informer, err := c.seen.GetInformer(ctx, kind)
	if err == nil {
		see := func(object any) {
			if one, ok := object.(T); ok {
				look(ctx, one)
			}
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, after any) { see(after) }})
	}
	if err != nil {
		return fmt.Errorf("cannot watch what test clusters serve: %w", err)
	}
	return nil
}

// ofKind is an object of a kind that the client has no type for.
func ofKind(apiVersion, kind string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
}

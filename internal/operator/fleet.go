package operator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/example/appservice-operator/internal/controller"
	"github.com/example/appservice-operator/internal/fleet"
	"github.com/example/appservice-operator/internal/watch"
)

// newGates returns the gates that hold new charts back from the resources of a reconciler.
func newGates(mgr manager.Manager, shared shared, reconciler *controller.Reconciler) *fleet.Gates {
	return &fleet.Gates{Chart: &fleet.Gate{
		Now:       reconciler.Version,
		Names:     func() ([]types.NamespacedName, error) { return names(mgr.GetCache(), reconciler) },
		MaxFailed: shared.MaxFailedRollouts,
		Show:      reconciler.Metrics.Rollout,
		Log:       mgr.GetLogger().WithValues("kind", reconciler.Kind.Kind),
	}}
}

// followDefaults watches the defaults of namespaces for the resources of a reconciler, with a gate each.
func followDefaults(mgr manager.Manager, shared shared, reconciler *controller.Reconciler, runs ctrl.Controller) error {
	of := func(namespace string) ([]types.NamespacedName, error) {
		return names(mgr.GetCache(), reconciler, client.InNamespace(namespace))
	}
	reconciler.Gates.Of = func(namespace string) *fleet.Gate {
		return &fleet.Gate{
			Now:       func() fleet.Version { return reconciler.DefaultsOf(namespace) },
			Names:     func() ([]types.NamespacedName, error) { return of(namespace) },
			MaxFailed: shared.MaxFailedRollouts,
			Log:       mgr.GetLogger().WithValues("kind", reconciler.Kind.Kind, "namespace", namespace),
		}
	}
	follow := &watch.Defaults{Kind: reconciler.Kind.Kind, Cache: shared.Defaults, Informers: shared.DefaultInformers, Names: of}
	reconciler.Defaults = follow
	return follow.Watch(context.Background(), runs)
}

// names lists the resources of a reconciler from the cache, which is filled before the first reconcile begins.
func names(informers client.Reader, reconciler *controller.Reconciler, options ...client.ListOption) ([]types.NamespacedName, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(reconciler.Kind.GroupVersion().WithKind(reconciler.Kind.Kind + "List"))
	if err := informers.List(context.Background(), list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", reconciler.Kind.Kind, err)
	}
	all := make([]types.NamespacedName, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return all, nil
}

// watchRequests lets the annotation of a CRD open the gate of its kind.
func watchRequests(mgr manager.Manager, runs ctrl.Controller, reconciler *controller.Reconciler) error {
	mapping, err := mgr.GetRESTMapper().RESTMapping(reconciler.Kind.GroupKind(), reconciler.Kind.Version)
	if err != nil {
		return fmt.Errorf("cannot find the resource of %s: %w", reconciler.Kind.Kind, err)
	}
	return watch.Requests(context.Background(), mgr.GetCache(), runs, mapping.Resource.GroupResource().String(), reconciler.Gates.Chart.Ask)
}

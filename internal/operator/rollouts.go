package operator

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/watch"
	"github.com/example/appservice-operator/internal/operator/controller"
	"github.com/example/appservice-operator/internal/operator/rollout"
)

// rolloutLimits bound the rollouts of each kind that no user requests.
type rolloutLimits struct {
	atATime, failed int
	deadline        time.Duration
}

// newRollouts returns the line of rollouts of the resources of a reconciler.
func newRollouts(mgr manager.Manager, shared shared, reconciler *controller.Reconciler) *rollout.Rollouts {
	return &rollout.Rollouts{
		Limit:     shared.Rollouts.atATime,
		MaxFailed: shared.Rollouts.failed,
		Deadline:  shared.Rollouts.deadline,
		Chart:     reconciler.Chart,
		Names:     func() ([]types.NamespacedName, error) { return names(mgr.GetCache(), reconciler) },
		Show:      func(p rollout.Progress) { reconciler.Metrics.Rollout(p.Waiting, p.Held, p.Failed) },
		Clock:     shared.Clock,
		Log:       mgr.GetLogger().WithValues("kind", reconciler.Kind.Kind),
	}
}

// followDefaults watches the defaults of namespaces for the resources of a reconciler.
func followDefaults(mgr manager.Manager, shared shared, reconciler *controller.Reconciler, runs ctrl.Controller) error {
	of := func(namespace string) ([]types.NamespacedName, error) {
		return names(mgr.GetCache(), reconciler, client.InNamespace(namespace))
	}
	follow := &watch.Defaults{Kind: reconciler.Kind.Kind, Cache: shared.Defaults, Informers: shared.DefaultInformers,
		Names: of}
	reconciler.Defaults = follow
	return follow.Watch(context.Background(), runs)
}

// names lists the resources of a reconciler from the cache, which is filled before the first reconcile begins.
func names(informers client.Reader, reconciler *controller.Reconciler,
	options ...client.ListOption) ([]types.NamespacedName, error) {
	list := kube.List(reconciler.Kind)
	if err := informers.List(context.Background(), list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", reconciler.Kind.Kind, err)
	}
	all := make([]types.NamespacedName, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return all, nil
}

// watchRequests lets a halted chart of a kind continue if the annotation of its CRD requests that.
func watchRequests(mgr manager.Manager, runs ctrl.Controller, reconciler *controller.Reconciler) error {
	mapping, err := mgr.GetRESTMapper().RESTMapping(reconciler.Kind.GroupKind(), reconciler.Kind.Version)
	if err != nil {
		return fmt.Errorf("cannot find the resource of %s: %w", reconciler.Kind.Kind, err)
	}
	return watch.Requests(context.Background(), mgr.GetCache(), runs, mapping.Resource.GroupResource().String(),
		reconciler.Rollouts.Allow)
}

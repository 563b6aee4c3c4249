package watch

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
)

// configMapKind is the kind that namespaces set defaults with.
var configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// Defaults returns the defaults of namespaces for one kind, and turns their changes into reconciles of all resources of
// the namespace. Its cache holds the ConfigMaps of that name and no others, so reading one takes no request. It is safe
// for concurrent use.
type Defaults struct {
	Kind string
	// Cache holds those ConfigMaps.
	Cache     cache.Cache
	Informers *kube.Informers // of the cache
	// Names lists the resources of a namespace.
	Names func(namespace string) ([]types.NamespacedName, error)
}

// Of returns the defaults of a namespace; the zero value if there are none.
func (d *Defaults) Of(ctx context.Context, namespace string) (defaults.Text, error) {
	err := d.Informers.Seen(configMapKind)
	var forbidden *kube.ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return defaults.Text{}, rbac.Reference(forbidden, "which the defaults of namespaces are in", false)
	case err != nil:
		return defaults.Text{}, &UnreadError{err}
	}
	config := &corev1.ConfigMap{}
	switch err := d.Cache.Get(ctx, types.NamespacedName{Namespace: namespace, Name: defaults.Name}, config); {
	case apierrors.IsNotFound(err):
		return defaults.Text{}, nil
	case err != nil:
		return defaults.Text{}, &UnreadError{err}
	}
	return defaults.Of(config, d.Kind), nil
}

// UnreadError reports that the defaults of a namespace are not known. Nothing is rendered without them: they would be
// reverted.
type UnreadError struct{ Err error }

func (e *UnreadError) Error() string {
	return fmt.Sprintf("the defaults of the namespace cannot be read: %v", e.Err)
}

func (e *UnreadError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *UnreadError) Reason() string { return v1.ReasonAPIUnavailable }

// Watch lets a controller watch the ConfigMaps. Its workers start once all are known, or it is known that they may not
// be read.
func (d *Defaults) Watch(ctx context.Context, controller ctrl.Controller) error {
	changed := func(object client.Object, q queue) {
		names, err := d.Names(object.GetNamespace())
		if err != nil {
			log.Log.Error(err, "cannot list the resources that defaults are for", "namespace", object.GetNamespace())
			return
		}
		for _, name := range names {
			Later(q, name)
		}
	}
	err := events(ctx, controller, d.Cache, &corev1.ConfigMap{}, handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList { // each resource is reconciled anyway
				changed(e.Object, q)
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if d.says(e.ObjectOld) != d.says(e.ObjectNew) {
				changed(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { changed(e.Object, q) },
	})
	if err != nil {
		return err
	}
	return controller.Watch(gate(func(ctx context.Context) error {
		return settled(ctx, d.Informers, configMapKind)
	}))
}

// says returns the digest of the defaults for the kind in a ConfigMap.
func (d *Defaults) says(object client.Object) string {
	config, is := object.(*corev1.ConfigMap)
	if !is {
		return ""
	}
	return defaults.Of(config, d.Kind).Digest
}

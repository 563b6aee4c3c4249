package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
)

// Referrers records which resources of one kind refer to which other objects, returns the state of those, and turns
// their events into reconciles. A kind is watched from its first reference on. It is safe for concurrent use.
type Referrers struct {
	// Cache holds the metadata of all objects, whoever owns them.
	Cache        cache.Cache
	Informers    *kube.Informers // of the cache
	Dependencies *reference.Dependencies
	Controller   ctrl.Controller
	// MayWatch reports whether the operator may watch a kind in all of the cluster.
	MayWatch func(context.Context, schema.GroupVersionKind) (bool, error)
	// Served reports whether the cluster serves a kind that is not built in.
	Served func(context.Context, schema.GroupVersionKind) bool
	// FactsOf returns the facts about a namespace in its labels, which are nil if they are not known; nil for what every
	// label says itself.
	FactsOf func(namespace string, labels map[string]string, known bool) (postrender.Facts, error)

	watching sync.Mutex
	watched  map[string]time.Time // by kind, since when; zero where it may not be watched

	mu sync.Mutex
	by map[reference.Object]map[types.NamespacedName]bool // by where the objects are
	of map[types.NamespacedName][]reference.Object
}

// Refer records everything that a resource refers to, including its namespace.
func (r *Referrers) Refer(name types.NamespacedName, references []reference.Reference) {
	places := []reference.Object{{Kind: reference.NamespaceKind.Kind, Name: name.Namespace}}
	for _, ref := range references {
		places = append(places, ref.From(name.Namespace))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(name)
	if r.by == nil {
		r.by, r.of = map[reference.Object]map[types.NamespacedName]bool{}, map[types.NamespacedName][]reference.Object{}
	}
	for _, at := range places {
		if r.by[at] == nil {
			r.by[at] = map[types.NamespacedName]bool{}
		}
		r.by[at][name] = true
	}
	r.of[name] = places
}

// Forget drops a resource that no longer exists.
func (r *Referrers) Forget(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(name)
}

func (r *Referrers) forget(name types.NamespacedName) {
	for _, at := range r.of[name] {
		delete(r.by[at], name)
		if len(r.by[at]) == 0 {
			delete(r.by, at)
		}
	}
	delete(r.of, name)
}

// Facts returns what hooks may know about the cluster.
func (r *Referrers) Facts(ctx context.Context, resource client.Object,
	references []reference.Reference) (postrender.Facts, error) {
	facts := postrender.Facts{}
	known, err := r.ensure(ctx, reference.NamespaceKind.Kind)
	if err != nil {
		return facts, err
	}
	var labels map[string]string
	if known {
		labels, err = r.Dependencies.Labels(ctx, resource.GetNamespace())
		switch {
		case apierrors.IsNotFound(err): // it exists, since the resource does: without its labels, no policy can be chosen
			return facts, &release.StaleError{Err: fmt.Errorf("namespace %q is not seen yet", resource.GetNamespace())}
		case err != nil:
			return facts, fmt.Errorf("cannot read the labels of the namespace: %w", err)
		}
	}
	if r.FactsOf == nil {
		facts = postrender.FactsOf(labels)
	} else if facts, err = r.FactsOf(resource.GetNamespace(), labels, known); err != nil {
		return facts, err
	}
	err = facts.Find(references, func(mention reference.Reference) (reference.State, bool, error) {
		if known, err := r.ensure(ctx, mention.Kind); err != nil || !known {
			return reference.State{}, false, err
		}
		confirm := mention.Need == reference.Required ||
			// which the cache leaves out
			mention.Kind == reference.Secret && strings.HasPrefix(mention.Name, livestate.RecordPrefix)
		state, err := r.Dependencies.Look(ctx, resource.GetNamespace(), mention.Object, confirm)
		return state, true, err
	})
	return facts, err
}

// ensure ensures that a kind is watched and that its objects are in the cache. It reports whether they are: an operator
// for some namespaces may not read cluster-scoped objects.
func (r *Referrers) ensure(ctx context.Context, name string) (bool, error) {
	kind, clusterScoped := reference.KindOf(name)
	since, err := r.watch(ctx, kind, clusterScoped || name == reference.Gateway) // those are everywhere
	if err != nil || since.IsZero() {
		return false, err
	}
	if err := r.Informers.Settle(ctx, since.Add(settleTimeout), kind); err != nil {
		return false, err
	}
	err = r.Informers.Seen(kind)
	var forbidden *kube.ForbiddenError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &forbidden) && clusterScoped:
		return false, nil
	case forbidden != nil:
		return false, rbac.Reference(forbidden, "which the spec refers to", clusterScoped)
	}
	return false, &UnseenError{kind, err}
}

// UnseenError reports that a kind which the resource refers to cannot be read.
type UnseenError struct {
	Kind schema.GroupVersionKind
	Err  error
}

func (e *UnseenError) Error() string {
	return fmt.Sprintf("the spec refers to a %s, which cannot be watched: %v", e.Kind.Kind, e.Err)
}

func (e *UnseenError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *UnseenError) Reason() string { return v1.ReasonAPIUnavailable }

// watch returns since when a kind is watched; the zero time if the operator may not watch it. The API server is queried
// for the right to watch a kind everywhere without holding the lock.
func (r *Referrers) watch(ctx context.Context, kind schema.GroupVersionKind,
	everywhere bool) (since time.Time, err error) {
	if since, decided := r.watchedSince(kind); decided {
		return since, nil
	}
	allowed := true
	if everywhere {
		if allowed, err = r.MayWatch(ctx, kind); err != nil {
			return time.Time{}, err
		}
	}
	r.watching.Lock()
	defer r.watching.Unlock()
	if since, decided := r.watched[kind.Kind]; decided {
		return since, nil
	}
	if r.watched == nil {
		r.watched = map[string]time.Time{}
	}
	if !allowed {
		r.watched[kind.Kind] = time.Time{}
		log.FromContext(ctx).Info("kind is not followed: the operator may not watch it", "kind", kind.Kind)
		return time.Time{}, nil
	}
	if err := events(ctx, r.Controller, r.Cache, kube.Metadata(kind), r.events(kind.Kind)); err != nil {
		return time.Time{}, &UnseenError{kind, err}
	}
	r.watched[kind.Kind] = time.Now()
	return r.watched[kind.Kind], nil
}

func (r *Referrers) watchedSince(kind schema.GroupVersionKind) (since time.Time, decided bool) {
	r.watching.Lock()
	defer r.watching.Unlock()
	since, decided = r.watched[kind.Kind]
	return since, decided
}

func (r *Referrers) events(kind string) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { r.changed(kind, e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if reference.Version(e.ObjectOld) != reference.Version(e.ObjectNew) {
				r.changed(kind, e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			r.Dependencies.Forget(locate(kind, e.Object))
			r.changed(kind, e.Object, q)
		},
	}
}

func (r *Referrers) changed(kind string, object client.Object, q queue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.by[locate(kind, object)] {
		q.Add(reconcile.Request{NamespacedName: name})
	}
}

func locate(kind string, object client.Object) reference.Object {
	return reference.Object{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
}

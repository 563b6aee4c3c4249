// Package watch turns events in the cluster into requests to reconcile: events of the objects that resources control,
// of those that they refer to, and of the APIs that the cluster serves.
package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// Tracker watches the kinds that a chart renders, from when they are first rendered, and turns events of objects into
// reconciles of the resources that control them. It is safe for concurrent use.
type Tracker struct {
	Owner      schema.GroupVersionKind
	Cache      cache.Cache
	Informers  *kube.Informers // of the cache
	Mapper     meta.RESTMapper
	Observer   *livestate.Observer
	Controller controller.Controller
	// Enqueue is false if watches.yaml disables reconciles by dependent resources.
	Enqueue bool
	// UIDOf returns the UID of a resource that was reconciled before; empty for any other.
	UIDOf func(types.NamespacedName) types.UID

	mu      sync.Mutex
	watched map[schema.GroupVersionKind]time.Time // since when
}

// UntrackedError reports that a kind which the chart renders cannot be read.
type UntrackedError struct {
	Kind schema.GroupVersionKind
	Err  error
}

func (e *UntrackedError) Error() string {
	return fmt.Sprintf("the chart renders %s %s, which cannot be watched: %v", e.Kind.GroupVersion(), e.Kind.Kind, e.Err)
}

func (e *UntrackedError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *UntrackedError) Reason() string { return v1.ReasonAPIUnavailable }

// Preload watches kinds from the start, before anything is rendered: otherwise objects left by an earlier process would
// not be seen. Kinds that the cluster does not serve are left out, and so are those that cannot be watched now: the
// resources that render them wait, and try again. The controller starts when it is known for each of the others whether
// it can be read, and when the resources are as new in the cache as the API server had them then: a process that begins
// to lead must not act on an earlier spec than the leader before it.
func (t *Tracker) Preload(ctx context.Context, kinds ...schema.GroupVersionKind) error {
	served, err := t.watchServed(ctx, kinds)
	if err != nil {
		return err
	}
	return t.Controller.Watch(gate(func(ctx context.Context) error {
		never := time.Now().AddDate(1, 0, 0) // the manager's own deadline applies
		if err := t.Informers.Settle(ctx, never, t.Owner); err != nil {
			return err
		}
		if err := t.Informers.CatchUp(ctx, t.Owner); err != nil {
			return err
		}
		return settled(ctx, t.Informers, served...)
	}))
}

// watchServed watches those of the kinds that the cluster serves, and returns them.
func (t *Tracker) watchServed(ctx context.Context, kinds []schema.GroupVersionKind) ([]schema.GroupVersionKind, error) {
	var served []schema.GroupVersionKind
	for _, kind := range kinds {
		switch _, err := t.watch(ctx, kind); {
		case meta.IsNoMatchError(err):
		case err != nil && kind != kube.SecretKind: // without its records, releases would begin again
			log.Log.WithName("watch").Error(err, "a kind cannot be watched: the resources that render it wait", "kind", kind.String())
		case err != nil:
			return nil, &UntrackedError{kind, err}
		default:
			served = append(served, kind)
		}
	}
	return served, nil
}

// Ensure ensures that a kind is watched and that its objects are in the cache.
func (t *Tracker) Ensure(ctx context.Context, kind schema.GroupVersionKind) error {
	since, err := t.watch(ctx, kind)
	if err != nil {
		return &UntrackedError{kind, err}
	}
	if err := t.Informers.Settle(ctx, since.Add(settleTimeout), kind); err != nil {
		return err
	}
	if err := t.Informers.Seen(kind); err != nil {
		return &UntrackedError{kind, err}
	}
	return nil
}

// watch returns since when a kind is watched. Its scope is requested from the API server without holding the lock.
func (t *Tracker) watch(ctx context.Context, kind schema.GroupVersionKind) (since time.Time, err error) {
	if since, found := t.watchedSince(kind); found {
		return since, nil
	}
	if why := chart.Unwatchable(kind); why != "" {
		return time.Time{}, errors.New(why)
	}
	mapping, err := t.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return time.Time{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if since, found := t.watched[kind]; found {
		return since, nil
	}
	object, err := t.Observer.Track(ctx, kind)
	if err != nil {
		return time.Time{}, err
	}
	if err := events(ctx, t.Controller, t.Cache, object,
		handler.TypedEventHandler[client.Object, reconcile.Request](t)); err != nil {
		return time.Time{}, err
	}
	t.Observer.Include(kind, mapping.Scope.Name() == meta.RESTScopeNameRoot, func() error {
		if err := t.Informers.Seen(kind); err != nil {
			return &UntrackedError{kind, err}
		}
		return nil
	})
	if t.watched == nil {
		t.watched = map[schema.GroupVersionKind]time.Time{}
	}
	t.watched[kind] = time.Now()
	return t.watched[kind], nil
}

func (t *Tracker) watchedSince(kind schema.GroupVersionKind) (since time.Time, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	since, found = t.watched[kind]
	return since, found
}

// Create implements handler.EventHandler.
func (t *Tracker) Create(_ context.Context, e event.CreateEvent, q queue) {
	t.seen(t.ownerOf(e.Object), e.Object, false, q)
	t.claimed(e.Object, q)
}

// Update implements handler.EventHandler.
func (t *Tracker) Update(_ context.Context, e event.UpdateEvent, q queue) {
	if e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() {
		return
	}
	before, after := t.ownerOf(e.ObjectOld), t.ownerOf(e.ObjectNew)
	if before != after { // an object that was taken from a resource is missing from then on
		t.seen(before, e.ObjectNew, false, q)
	}
	t.seen(after, e.ObjectNew, false, q)
	if before != after {
		t.claimed(e.ObjectNew, q)
	}
}

// Delete implements handler.EventHandler.
func (t *Tracker) Delete(_ context.Context, e event.DeleteEvent, q queue) {
	t.seen(t.ownerOf(e.Object), e.Object, true, q)
	t.claimed(e.Object, q)
}

// Generic implements handler.EventHandler.
func (t *Tracker) Generic(context.Context, event.GenericEvent, queue) {}

// owner is a resource of the kind that is tracked.
type owner struct {
	types.NamespacedName
	uid types.UID
}

// ownerOf returns the resource that an object belongs to, by controller reference, as a claim that is retained for it,
// or as a cluster-scoped object with its UID; the zero value if it belongs to none.
func (t *Tracker) ownerOf(object client.Object) owner {
	if retained := kube.RetainedFor(object); retained != "" {
		name := types.NamespacedName{Namespace: object.GetNamespace(), Name: retained}
		return owner{name, t.UIDOf(name)}
	}
	annotations := object.GetAnnotations()
	if uid := kube.LabeledOwner(object); uid != "" && annotations[v1.AnnotationOwnerKind] == t.Owner.Kind {
		name := types.NamespacedName{Namespace: annotations["meta.helm.sh/release-namespace"],
			Name: annotations["meta.helm.sh/release-name"]}
		return owner{name, types.UID(uid)}
	}
	controller := metav1.GetControllerOfNoCopy(object)
	if controller == nil || !kube.OfKind(controller, t.Owner.GroupKind()) {
		return owner{}
	}
	return owner{types.NamespacedName{Namespace: object.GetNamespace(), Name: controller.Name}, controller.UID}
}

// claimed reconciles the other resources whose workloads use a claim by its name, if they have so many replicas.
func (t *Tracker) claimed(object client.Object, q queue) {
	if !t.Enqueue || object.GetObjectKind().GroupVersionKind().Kind != kube.RetainedKind {
		return
	}
	for _, workload := range t.Observer.Claiming(object) {
		if of := t.ownerOf(workload); of.Name != "" && of.NamespacedName != t.ownerOf(object).NamespacedName {
			Later(q, of.NamespacedName)
		}
	}
}

func (t *Tracker) seen(by owner, object client.Object, deleted bool, q queue) {
	if by.Name == "" {
		return
	}
	// An object may name the UID of a resource of another namespace: its events say nothing about writes for that
	// resource.
	echo := by.uid == t.UIDOf(by.NamespacedName) && t.Observer.Seen(by.uid, object, deleted)
	if echo || !t.Enqueue {
		return
	}
	if deleted {
		q.Add(reconcile.Request{NamespacedName: by.NamespacedName})
		return
	}
	Later(q, by.NamespacedName)
}

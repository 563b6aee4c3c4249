package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/example/appservice-operator/internal/observe"
)

// syncTimeout is how long the first look at a kind may take. It only passes where the cluster does not let us watch it.
const syncTimeout = 15 * time.Second

// Tracker watches the kinds that a chart renders, as they come up, and turns events of objects into reconciles of the
// resources that control them. It is safe for concurrent use.
type Tracker struct {
	Owner      schema.GroupVersionKind
	Cache      cache.Cache
	Mapper     meta.RESTMapper
	Observer   *observe.Observer
	Controller controller.Controller
	// Enqueue is false where watches.yaml switches reconciles by dependent resources off.
	Enqueue bool

	mu     sync.Mutex
	synced map[schema.GroupVersionKind]source.SyncingSource
}

// untrackedError says that a kind cannot be watched.
type untrackedError struct {
	kind schema.GroupVersionKind
	err  error
}

func (e *untrackedError) Error() string {
	return fmt.Sprintf("the chart renders %s %s, which cannot be watched: %v", e.kind.GroupVersion(), e.kind.Kind, e.err)
}

func (e *untrackedError) Unwrap() error { return e.err }

// Preload watches kinds from the start, before anything is rendered: what an earlier process left over would not be seen
// otherwise. Kinds that the cluster does not serve are left out.
func (t *Tracker) Preload(ctx context.Context, kinds ...schema.GroupVersionKind) error {
	for _, kind := range kinds {
		if _, err := t.watch(ctx, kind); err != nil && !meta.IsNoMatchError(err) {
			return &untrackedError{kind, err}
		}
	}
	return nil
}

// Ensure sees to it that a kind is watched and that its objects are in the caches.
func (t *Tracker) Ensure(ctx context.Context, kind schema.GroupVersionKind) error {
	watched, err := t.watch(ctx, kind)
	if err != nil {
		return &untrackedError{kind, err}
	}
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	if err := watched.WaitForSync(ctx); err != nil {
		return &untrackedError{kind, fmt.Errorf("no answer to list and watch within %s, the operator may lack the right: %w", syncTimeout, err)}
	}
	return nil
}

func (t *Tracker) watch(ctx context.Context, kind schema.GroupVersionKind) (source.SyncingSource, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if watched, found := t.synced[kind]; found {
		return watched, nil
	}
	if _, err := t.Mapper.RESTMapping(kind.GroupKind(), kind.Version); err != nil {
		return nil, err
	}
	object, err := t.Observer.Track(ctx, kind)
	if err != nil {
		return nil, err
	}
	watched := source.Kind(t.Cache, object, handler.TypedEventHandler[client.Object, reconcile.Request](t))
	if err := t.Controller.Watch(watched); err != nil {
		return nil, err
	}
	if t.synced == nil {
		t.synced = map[schema.GroupVersionKind]source.SyncingSource{}
	}
	t.synced[kind] = watched
	return watched, nil
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Create implements handler.EventHandler.
func (t *Tracker) Create(_ context.Context, e event.CreateEvent, q queue) {
	t.seen(e.Object, false, q)
}

// Update implements handler.EventHandler.
func (t *Tracker) Update(_ context.Context, e event.UpdateEvent, q queue) {
	if e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() {
		return
	}
	// An object that was taken from its controller is missing from then on.
	if lost := metav1.GetControllerOfNoCopy(e.ObjectOld); lost != nil && metav1.GetControllerOfNoCopy(e.ObjectNew) == nil {
		t.seen(e.ObjectOld, true, q)
		return
	}
	t.seen(e.ObjectNew, false, q)
}

// Delete implements handler.EventHandler.
func (t *Tracker) Delete(_ context.Context, e event.DeleteEvent, q queue) {
	t.seen(e.Object, true, q)
}

// Generic implements handler.EventHandler.
func (t *Tracker) Generic(context.Context, event.GenericEvent, queue) {}

func (t *Tracker) seen(object client.Object, deleted bool, q queue) {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil || owner.Kind != t.Owner.Kind || owner.APIVersion != t.Owner.GroupVersion().String() {
		return
	}
	echo := t.Observer.Seen(owner.UID, object, deleted)
	if echo || !t.Enqueue {
		return
	}
	q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}})
}

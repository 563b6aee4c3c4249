// Package watch turns what happens in the cluster into requests to reconcile: events of the objects that resources control, of
// those that they refer to, and of the APIs that the cluster serves.
package watch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/kube"
)

// Bookkeeping is the priority of reconciles that no change of a resource asks for, below the usual 0.
const Bookkeeping = handler.LowPriority

// SyncTimeout is how long the first look at a kind may take. It only passes where the cluster does not let us watch it.
const SyncTimeout = 15 * time.Second

// Tracker watches the kinds that a chart renders, as they come up, and turns events of objects into reconciles of the
// resources that control them. It is safe for concurrent use.
type Tracker struct {
	Owner      schema.GroupVersionKind
	Cache      cache.Cache
	Mapper     meta.RESTMapper
	Observer   *cluster.Observer
	Controller controller.Controller
	// Enqueue is false where watches.yaml switches reconciles by dependent resources off.
	Enqueue bool
	// UIDOf gives the UID of a resource that was reconciled before; empty for any other.
	UIDOf func(types.NamespacedName) types.UID

	mu      sync.Mutex
	watched map[schema.GroupVersionKind]watched
}

// watched is a kind that is watched: with which object, and whether its objects live outside of namespaces.
type watched struct {
	object        client.Object
	clusterScoped bool
}

// UntrackedError says that a kind cannot be watched.
type UntrackedError struct {
	Kind schema.GroupVersionKind
	Err  error
}

func (e *UntrackedError) Error() string {
	return fmt.Sprintf("the chart renders %s %s, which cannot be watched: %v", e.Kind.GroupVersion(), e.Kind.Kind, e.Err)
}

func (e *UntrackedError) Unwrap() error { return e.Err }

// Reason is that of Ready.
func (e *UntrackedError) Reason() string { return v1.ReasonAPIUnavailable }

// Preload watches kinds from the start, before anything is rendered: what an earlier process left over would not be seen
// otherwise. Kinds that the cluster does not serve are left out.
func (t *Tracker) Preload(ctx context.Context, kinds ...schema.GroupVersionKind) error {
	for _, kind := range kinds {
		w, err := t.watch(ctx, kind)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return &UntrackedError{kind, err}
		}
		t.Observer.Include(kind, w.clusterScoped)
	}
	return nil
}

// Ensure sees to it that a kind is watched and that its objects are in the caches.
func (t *Tracker) Ensure(ctx context.Context, kind schema.GroupVersionKind) error {
	w, err := t.watch(ctx, kind)
	if err != nil {
		return &UntrackedError{kind, err}
	}
	if err := synced(ctx, t.Cache, kind, w.object); err != nil {
		return err
	}
	t.Observer.Include(kind, w.clusterScoped)
	return nil
}

// synced waits until the objects of a kind are in a cache, which watches it with the given object.
func synced(ctx context.Context, from cache.Cache, kind schema.GroupVersionKind, object client.Object) error {
	informer, err := from.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return &UntrackedError{kind, err}
	}
	if informer.HasSynced() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, SyncTimeout)
	defer cancel()
	if !toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return &UntrackedError{kind, fmt.Errorf("no answer to list and watch within %s, the operator may lack the right", SyncTimeout)}
	}
	return nil
}

func (t *Tracker) watch(ctx context.Context, kind schema.GroupVersionKind) (watched, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w, found := t.watched[kind]; found {
		return w, nil
	}
	mapping, err := t.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return watched{}, err
	}
	object, err := t.Observer.Track(ctx, kind)
	if err != nil {
		return watched{}, err
	}
	if err := t.Controller.Watch(source.Kind(t.Cache, object, handler.TypedEventHandler[client.Object, reconcile.Request](t))); err != nil {
		return watched{}, err
	}
	if t.watched == nil {
		t.watched = map[schema.GroupVersionKind]watched{}
	}
	w := watched{object: object, clusterScoped: mapping.Scope.Name() == meta.RESTScopeNameRoot}
	t.watched[kind] = w
	return w, nil
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Create implements handler.EventHandler.
func (t *Tracker) Create(_ context.Context, e event.CreateEvent, q queue) {
	t.seen(t.ownerOf(e.Object), e.Object, false, q)
}

// Update implements handler.EventHandler.
func (t *Tracker) Update(_ context.Context, e event.UpdateEvent, q queue) {
	if e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() {
		return
	}
	before, after := t.ownerOf(e.ObjectOld), t.ownerOf(e.ObjectNew)
	if before != after { // what was taken from a resource is missing from then on
		t.seen(before, e.ObjectNew, false, q)
	}
	t.seen(after, e.ObjectNew, false, q)
}

// Delete implements handler.EventHandler.
func (t *Tracker) Delete(_ context.Context, e event.DeleteEvent, q queue) {
	t.seen(t.ownerOf(e.Object), e.Object, true, q)
}

// Generic implements handler.EventHandler.
func (t *Tracker) Generic(context.Context, event.GenericEvent, queue) {}

// owner is a resource of the kind that is tracked.
type owner struct {
	types.NamespacedName
	uid types.UID
}

// ownerOf gives the resource that an object belongs to, by controller reference, as a claim that is kept for it, or as a
// cluster-scoped object with its UID; its zero value where it belongs to none.
func (t *Tracker) ownerOf(object client.Object) owner {
	if retained := kube.RetainedFor(object); retained != "" {
		name := types.NamespacedName{Namespace: object.GetNamespace(), Name: retained}
		return owner{name, t.UIDOf(name)}
	}
	annotations := object.GetAnnotations()
	if uid := object.GetLabels()[v1.LabelOwner]; uid != "" && annotations[v1.AnnotationOwnerKind] == t.Owner.Kind {
		name := types.NamespacedName{Namespace: annotations["meta.helm.sh/release-namespace"], Name: annotations["meta.helm.sh/release-name"]}
		return owner{name, types.UID(uid)}
	}
	controller := metav1.GetControllerOfNoCopy(object)
	if controller == nil || controller.Kind != t.Owner.Kind || controller.APIVersion != t.Owner.GroupVersion().String() {
		return owner{}
	}
	return owner{types.NamespacedName{Namespace: object.GetNamespace(), Name: controller.Name}, controller.UID}
}

func (t *Tracker) seen(by owner, object client.Object, deleted bool, q queue) {
	if by.Name == "" {
		return
	}
	echo := t.Observer.Seen(by.uid, object, deleted)
	if echo || !t.Enqueue {
		return
	}
	request := reconcile.Request{NamespacedName: by.NamespacedName}
	if priorities, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok && !deleted {
		priorities.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(Bookkeeping)}, request)
		return
	}
	q.Add(request)
}

package status

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// Writer writes the status of the resources of one kind. It alone decides when: it knows the last written status,
// whatever the cache shows, limits the rate of writes, and requeues a resource if another writer changed its status. It
// is safe for concurrent use.
type Writer struct {
	Client client.Client
	Clock  clock.PassiveClock
	// Bound is that of the kind.
	Bound limits.Bound

	mu   sync.Mutex
	last map[types.NamespacedName]*written
}

// written is the writer's memory of one resource.
type written struct {
	uid  types.UID
	rate writeRate
	// sum is the digest of the last written status, 0 for none: if the cluster has another one, another writer changed it.
	sum uint64
	// seen is the version in the newest event, which may overtake the response to a write.
	seen string
	// resource as the last write left it; nil as soon as the cache shows that.
	resource *unstructured.Unstructured
}

// Newest returns a resource as the last status write left it if the cache is older, else as cached: a patch computed
// from an older status would leave fields unchanged that have changed since.
func (w *Writer) Newest(cached *unstructured.Unstructured) *unstructured.Unstructured {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.of(cached)
	known.forgetIfShown(cached)
	if known.resource != nil {
		return known.resource
	}
	return cached
}

// Of returns the status of a resource.
func Of(resource *unstructured.Unstructured) (*v1.AppServiceStatus, error) {
	content, _, err := unstructured.NestedFieldNoCopy(resource.Object, "status")
	if err != nil {
		return nil, fmt.Errorf("cannot read status: %w", err)
	}
	out := &v1.AppServiceStatus{}
	if fields, ok := content.(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, out); err != nil {
			return nil, fmt.Errorf("cannot read status: %w", err)
		}
	}
	return out, nil
}

// Write writes a status if it differs from the resource's. The write may have to wait because of the rate limit: then
// the time until it is allowed is returned. The error is the API server's: NotFound or a conflict if the resource was
// deleted or created again meanwhile.
func (w *Writer) Write(ctx context.Context, resource *unstructured.Unstructured, previous, current *v1.AppServiceStatus,
	paced bool) (wait time.Duration, err error) {
	if equality.Semantic.DeepEqual(previous, current) {
		return 0, nil
	}
	if paced {
		if wait := w.wait(resource, previous, current); wait > 0 {
			return wait, nil
		}
	}
	patch, err := patchOf(resource, current)
	if err != nil {
		return 0, err
	}
	_, err = w.patch(ctx, resource, current, patch)
	return 0, err
}

// wait returns the time until a status that differs from the previous one may be written; 0 for now, which then counts
// as written.
func (w *Writer) wait(resource *unstructured.Unstructured, previous, current *v1.AppServiceStatus) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.of(resource).rate.wait(w.Clock.Now(), previous, current)
}

// NoteRuns writes the noted runs of Jobs, and nothing else, if the resource is still in the version that was read. It
// returns the resource after the write. The error is a conflict if it is not. Write never writes these runs.
func (w *Writer) NoteRuns(ctx context.Context, resource *unstructured.Unstructured,
	runs []v1.RunStatus) (*unstructured.Unstructured, error) {
	current, err := Of(resource)
	if err != nil {
		return nil, err
	}
	current.Runs = runs
	var noted any // without any, the field goes
	if len(runs) > 0 {
		noted = runs
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": resource.GetUID(), "resourceVersion": resource.GetResourceVersion()},
		"status":   map[string]any{"runs": noted},
	})
	if err != nil {
		return nil, err
	}
	after, err := w.patch(ctx, resource, current, patch)
	if err != nil {
		return nil, err
	}
	if stored, err := Of(after); err != nil || !slices.Equal(stored.Runs, runs) {
		return nil, &PrunedError{Kind: resource.GetKind(), Err: err}
	}
	return after, nil
}

// PrunedError reports that a CRD has no field for the noted runs of Jobs.
type PrunedError struct {
	Kind string
	Err  error
}

func (e *PrunedError) Error() string {
	return fmt.Sprintf("the CRD of %s has no field status.runs, in which the operator notes what has run, so nothing is started: apply the CRD of this version", e.Kind)
}

// Unwrap returns the cause.
func (e *PrunedError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *PrunedError) Reason() string { return v1.ReasonAPIUnavailable }

// patch writes a status by a patch, and returns the resource after that.
func (w *Writer) patch(ctx context.Context, resource *unstructured.Unstructured, current *v1.AppServiceStatus,
	patch []byte) (*unstructured.Unstructured, error) {
	w.mu.Lock()
	w.of(resource).sum = sumOf(current) // before the write: its event may overtake the answer
	w.mu.Unlock()
	after := kube.Object(resource.GroupVersionKind())
	after.SetNamespace(resource.GetNamespace())
	after.SetName(resource.GetName())
	if err := w.Client.Status().Patch(ctx, after, client.RawPatch(types.MergePatchType, patch),
		client.FieldOwner(kube.FieldManager)); err != nil {
		return nil, err
	}
	after, err := kube.Compact(after, w.Bound) // as the cache shows it
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.of(resource); known.seen == "" || kube.Newer(after.GetResourceVersion(), known.seen) {
		known.resource = after
	}
	return after, nil
}

// patchOf returns the merge patch from the stored status to another one. It contains the UID, so that it is never
// applied to another resource of the same name, and always the whole verdict.
func patchOf(resource *unstructured.Unstructured, current *v1.AppServiceStatus) ([]byte, error) {
	// as it is stored: a counter that is 0 may not be there yet
	stored, _, err := unstructured.NestedFieldNoCopy(resource.Object, "status")
	if err != nil {
		return nil, err
	}
	if fields, ok := stored.(map[string]any); ok {
		fields = maps.Clone(fields)
		delete(fields, "runs")
		// Conditions and their generation are always written together: if another process wrote meanwhile, its conditions
		// could otherwise be combined with our generation, or ours with its.
		delete(fields, "conditions")
		delete(fields, "observedGeneration")
		stored = fields
	}
	before, err := json.Marshal(map[string]any{"status": stored})
	if err != nil {
		return nil, err
	}
	verdict := *current
	verdict.Runs = nil // another process may have noted others
	after, err := json.Marshal(map[string]any{"status": verdict, "metadata": map[string]any{"uid": resource.GetUID()}})
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(before, after)
}

// Forget drops the memory of a resource that is gone.
func (w *Writer) Forget(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, name)
}

// of returns the memory of a resource. A resource that was created again under the same name is a different one.
func (w *Writer) of(resource client.Object) *written {
	name := client.ObjectKeyFromObject(resource)
	known := w.last[name]
	if known == nil || known.uid != resource.GetUID() {
		known = &written{uid: resource.GetUID()}
		if w.last == nil {
			w.last = map[types.NamespacedName]*written{}
		}
		w.last[name] = known
	}
	return known
}

// forgetIfShown drops the resource as it was written if the cache shows that or something newer.
func (k *written) forgetIfShown(cached client.Object) {
	if k.resource != nil && !kube.Older(cached, k.resource) {
		k.resource = nil
	}
}

// Update handles an event of a resource: a status that differs from the one last written here is corrected.
func (w *Writer) Update(_ context.Context, e event.UpdateEvent,
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	after, ok := e.ObjectNew.(*unstructured.Unstructured)
	if !ok || !w.foreign(e.ObjectOld, after) {
		return
	}
	queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(after)})
}

// foreign records a new version of a resource and reports whether another writer changed its status.
func (w *Writer) foreign(before client.Object, after *unstructured.Unstructured) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.last[client.ObjectKeyFromObject(after)]
	if known == nil || known.uid != after.GetUID() {
		return false // it has not been reconciled yet
	}
	known.seen = after.GetResourceVersion()
	known.forgetIfShown(after)
	if old, ok := before.(*unstructured.Unstructured); ok &&
		equality.Semantic.DeepEqual(old.Object["status"], after.Object["status"]) {
		return false
	}
	current, err := Of(after)
	return err != nil || known.sum != sumOf(current)
}

// sumOf returns a short digest of a status.
func sumOf(status *v1.AppServiceStatus) uint64 {
	sum := fnv.New64a()
	_ = json.NewEncoder(sum).Encode(status) // neither can fail
	return sum.Sum64()
}

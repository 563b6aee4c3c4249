package operator

import (
	"context"
	"sync/atomic"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/engine/watch"
)

// onceGranted returns a function that checks whether the operator may watch CRDs. A right that it has is asked for
// once, one that it lacks each time, since an administrator may grant it.
func onceGranted(
	may func(context.Context, schema.GroupVersionKind) (bool, error),
) func(context.Context, schema.GroupVersionKind) (bool, error) {
	var granted atomic.Bool
	return func(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
		if granted.Load() {
			return true, nil
		}
		allowed, err := may(ctx, kind)
		granted.Store(allowed)
		return allowed, err
	}
}

// apiVersions returns which version of its API the CRD of a kind is from, by the metadata that the operator watches;
// empty if it does not say, or may not be watched.
func apiVersions(
	mgr manager.Manager, may func(context.Context, schema.GroupVersionKind) (bool, error),
) func(context.Context, schema.GroupVersionKind) string {
	return func(ctx context.Context, kind schema.GroupVersionKind) string {
		crd := crdOf(ctx, mgr, may, kind)
		if crd == nil {
			return ""
		}
		return watch.BundleVersion(crd)
	}
}

// crdOf returns the metadata of the CRD of a kind; nil if it is not known, or may not be watched.
func crdOf(ctx context.Context, mgr manager.Manager, may func(context.Context, schema.GroupVersionKind) (bool, error),
	kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	if allowed, err := may(ctx, watch.CRDKind); err != nil || !allowed {
		return nil
	}
	mapping, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil
	}
	crd := kube.Metadata(watch.CRDKind)
	key := client.ObjectKey{Name: mapping.Resource.Resource + "." + kind.Group}
	if err := mgr.GetCache().Get(ctx, key, crd); err != nil {
		return nil
	}
	return crd
}

// longestNote is how many characters of a note are shown: the API server takes 1024 bytes.
const longestNote = 700

// crdEvents returns a function that emits a warning about the CRD of a kind, once this process leads, if it may write
// events there.
func crdEvents(mgr manager.Manager, may func(context.Context, schema.GroupVersionKind) (bool, error),
	recorder record.EventRecorder) func(kind schema.GroupVersionKind, reason, note string) {
	return func(kind schema.GroupVersionKind, reason, note string) {
		emit := func(ctx context.Context) error {
			crd := crdOf(ctx, mgr, may, kind)
			allowed, err := allows(ctx, mgr, authorizationv1.ResourceAttributes{Namespace: metav1.NamespaceDefault,
				Version: "v1", Resource: "events", Verb: "create"})
			if crd != nil && err == nil && allowed {
				crd.SetGroupVersionKind(watch.CRDKind)
				recorder.Event(crd, corev1.EventTypeWarning, reason, text.Cut(note, longestNote))
			}
			return nil
		}
		if err := mgr.Add(manager.RunnableFunc(emit)); err != nil {
			mgr.GetLogger().Error(err, "cannot emit an event of a CRD", "kind", kind.Kind)
		}
	}
}

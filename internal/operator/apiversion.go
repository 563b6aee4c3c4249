package operator

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/example/appservice-operator/internal/controller/watch"
	"github.com/example/appservice-operator/internal/kube"
)

// apiVersions returns which version of its API the CRD of a kind is from, by the metadata that the operator watches;
// empty if it does not say, or may not be watched.
func apiVersions(
	mgr manager.Manager, may func(context.Context, schema.GroupVersionKind) (bool, error),
) func(context.Context, schema.GroupVersionKind) string {
	return func(ctx context.Context, kind schema.GroupVersionKind) string {
		if allowed, err := may(ctx, watch.CRDKind); err != nil || !allowed {
			return ""
		}
		mapping, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return ""
		}
		crd := kube.Metadata(watch.CRDKind)
		key := client.ObjectKey{Name: mapping.Resource.Resource + "." + kind.Group}
		if err := mgr.GetCache().Get(ctx, key, crd); err != nil {
			return ""
		}
		return watch.BundleVersion(crd)
	}
}

package operator

import (
	"context"
	"fmt"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcluster "sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
)

// newReferences returns the cache for the metadata of referenced objects. The manager's cache holds only our own
// objects. Helm's records are left out: each resource has several.
func newReferences(config *rest.Config, mgr manager.Manager, options Options,
	informers *kube.Informers) (cache.Cache, error) {
	return newCacheOf(config, mgr, "references", cache.Options{
		ByObject: map[client.Object]cache.ByObject{
			kube.Metadata(kube.SecretKind): {Field: fields.OneTermNotEqualSelector("type", livestate.RecordType)},
		},
		DefaultTransform: reference.Strip, DefaultNamespaces: namespaces(options), NewInformer: informers.New,
	})
}

// newDefaults returns the cache for the ConfigMaps by which namespaces set defaults: those of that name, with their
// data.
func newDefaults(config *rest.Config, mgr manager.Manager, options Options,
	informers *kube.Informers) (cache.Cache, error) {
	return newCacheOf(config, mgr, "defaults", cache.Options{
		DefaultFieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, defaults.Name),
		DefaultTransform:     defaults.Strip, DefaultNamespaces: namespaces(options), NewInformer: informers.New,
	})
}

// newCacheOf returns a cache beside the manager's, which the manager starts.
func newCacheOf(config *rest.Config, mgr manager.Manager, of string, options cache.Options) (cache.Cache, error) {
	all, err := ctrlcluster.New(config, func(o *ctrlcluster.Options) {
		o.Scheme = mgr.GetScheme()
		o.HTTPClient = mgr.GetHTTPClient()
		o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mgr.GetRESTMapper(), nil }
		o.NewCache = newCache
		o.Cache = options
	})
	if err == nil {
		err = mgr.Add(all)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot set up the cache of %s: %w", of, err)
	}
	return all.GetCache(), nil
}

// namespaces returns the namespaces that a cache watches; nil for all.
func namespaces(options Options) map[string]cache.Config {
	if len(options.WatchNamespaces) == 0 {
		return nil
	}
	configs := map[string]cache.Config{}
	for _, namespace := range options.WatchNamespaces {
		configs[namespace] = cache.Config{}
	}
	return configs
}

// rights returns a function that checks whether the operator may list and watch a kind in all of the cluster.
func rights(mgr manager.Manager) func(context.Context, schema.GroupVersionKind) (bool, error) {
	return func(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
		mapping, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return false, fmt.Errorf("cannot find the resource of %s: %w", kind.Kind, err)
		}
		missing, err := lacks(ctx, mgr, rbac.Need{GroupResource: mapping.Resource.GroupResource(),
			Verbs: []string{"list", "watch"}}, []string{""})
		return err == nil && len(missing) == 0, err
	}
}

// lacks returns the verbs of a need that the account does not have, in the cluster or in one of the namespaces.
func lacks(ctx context.Context, of ctrlcluster.Cluster, need rbac.Need,
	namespaces []string) (verbs []string, err error) {
	if need.ClusterScoped {
		namespaces = []string{""}
	}
	for _, verb := range need.Verbs {
		for _, namespace := range namespaces {
			allowed, err := allows(ctx, of, authorizationv1.ResourceAttributes{Namespace: namespace, Group: need.Group,
				Resource: need.Resource, Verb: verb})
			if err != nil {
				return nil, fmt.Errorf("cannot ask for the right to %s %s: %w", verb, need.Resource, err)
			}
			if !allowed {
				verbs = append(verbs, verb)
				break
			}
		}
	}
	return verbs, nil
}

// allows reports whether the API server lets the operator do something.
func allows(ctx context.Context, mgr ctrlcluster.Cluster, what authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
	err := mgr.GetClient().Create(ctx, review)
	return review.Status.Allowed, err
}

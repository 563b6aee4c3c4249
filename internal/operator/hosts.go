package operator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// hostRules are the rules of the platform's policy about hosts.
type hostRules struct {
	policy *policy.Current
	// labels returns the labels of a namespace, as far as they are known.
	labels func(namespace string) map[string]string
}

var _ hosts.Rules = hostRules{}

func (r hostRules) of(namespace string) policy.Rules {
	now := r.policy.Get()
	if !now.Selects() {
		return now.For(namespace, nil)
	}
	return now.For(namespace, r.labels(namespace))
}

// Refused implements hosts.Rules.
func (r hostRules) Refused(namespace string, route kube.Key, path hosts.RoutePath) error {
	may, why := r.of(namespace).MayUse(path.Host)
	if may {
		return nil
	}
	return &policy.Error{Namespace: namespace, Violations: []policy.Violation{{Kind: route.Kind, Name: route.Name,
		Path: "host", Value: path.HostOrAll(), Refusal: why}}}
}

// Granted implements hosts.Rules.
func (r hostRules) Granted(namespace, host string) bool { return r.of(namespace).Grants(host) }

// Shared implements hosts.Rules.
func (r hostRules) Shared(namespace, host string) bool { return r.of(namespace).Shares(host) }

// Below implements hosts.Rules.
func (r hostRules) Below(namespace, host string) (may, named bool) {
	return r.of(namespace).Below(host)
}

// newRoutes returns the cache for the routes that the operator did not make. It keeps their hosts and paths.
func newRoutes(config *rest.Config, mgr manager.Manager, options Options) (cache.Cache, error) {
	others, err := labels.NewRequirement(v1.LabelManaged, selection.NotEquals, []string{"true"})
	if err != nil {
		return nil, fmt.Errorf("cannot select the routes of others: %w", err)
	}
	if err := mgr.Add(unseen(mgr, options.WatchNamespaces)); err != nil {
		return nil, fmt.Errorf("cannot set up the rule of hosts: %w", err)
	}
	return newCacheOf(config, mgr, "routes", cache.Options{
		DefaultLabelSelector: labels.NewSelector().Add(*others), DefaultTransform: hosts.Strip,
		DefaultNamespaces: namespaces(options),
		NewInformer:       (&kube.Informers{}).New,
	})
}

// unseen logs which routes the operator does not see: those of other namespaces, and of kinds that it may not list.
func unseen(mgr manager.Manager, namespaces []string) manager.RunnableFunc {
	return func(ctx context.Context) error {
		var unlisted []string
		for _, kind := range hosts.Kinds() {
			mapping, err := mgr.GetRESTMapper().RESTMapping(kind)
			if err != nil {
				continue // there are none
			}
			need := rbac.Need{GroupResource: mapping.Resource.GroupResource(), Verbs: []string{"list", "watch"},
				ClusterScoped: len(namespaces) == 0}
			if missing, err := lacks(ctx, mgr, need, namespaces); err == nil && len(missing) > 0 {
				unlisted = append(unlisted, kind.Kind)
			}
		}
		if len(namespaces)+len(unlisted) > 0 {
			mgr.GetLogger().Info("a host belongs to one namespace as far as its routes are seen: of all namespaces if "+
				"none is named here, and not of the kinds that may not be listed", "namespaces", namespaces, "unlisted", unlisted)
		}
		return nil
	}
}

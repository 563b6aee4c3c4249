package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/internal/engine/chart"
)

// awaitPeriod is the interval at which the API server is checked for a kind whose CRD was missing.
const awaitPeriod = 20 * time.Second

// unserved reports whether an error says that the cluster does not serve a kind.
func unserved(err error) bool {
	var failed *apiutil.ErrResourceDiscoveryFailed
	if !errors.As(err, &failed) {
		return meta.IsNoMatchError(err)
	}
	for _, err := range *failed {
		if !apierrors.IsNotFound(err) {
			return false
		}
	}
	return true
}

// withServed returns a cache for the kinds that the cluster serves: it cannot have settings for any other.
func withServed(config *rest.Config, options cache.Options) (cache.Cache, error) {
	options.ByObject = maps.Clone(options.ByObject)
	maps.DeleteFunc(options.ByObject, func(object client.Object, _ cache.ByObject) bool {
		_, own := object.(*unstructured.Unstructured)
		kind := object.GetObjectKind().GroupVersionKind()
		_, err := options.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
		return own && err != nil
	})
	return newCache(config, options)
}

// split returns the entries of watches.yaml whose kinds the cluster serves, and the kinds of the others: these may be
// served later.
func split(mapper meta.RESTMapper, list []chart.Watch) (served []chart.Watch, missing awaited, err error) {
	missing.mapper = mapper
	var failed []error
	for _, entry := range list {
		kind := entry.GroupVersionKind
		switch _, err := mapper.RESTMapping(kind.GroupKind(), kind.Version); {
		case err != nil:
			missing.kinds = append(missing.kinds, kind)
			if !unserved(err) {
				failed = append(failed, fmt.Errorf("cannot find the resource of %s: %w", kind.Kind, err))
			}
		default:
			served = append(served, entry)
		}
	}
	if len(served) == 0 && len(failed) > 0 {
		return nil, missing, errors.Join(failed...)
	}
	return served, missing, nil
}

// awaited are kinds that the cluster does not serve. It implements manager.Runnable: an operator that is newer than the
// CRDs serves all other kinds, and restarts when one of these is served.
type awaited struct {
	kinds  []schema.GroupVersionKind
	mapper meta.RESTMapper
}

// ready returns an error if no kind at all is served.
func (a awaited) ready(served []chart.Watch) error {
	if len(served) > 0 {
		return nil
	}
	return fmt.Errorf("the cluster serves no kind of watches.yaml: install their CRDs, as with make install: missing are %s", a)
}

func (a awaited) String() string {
	var names []string
	for _, kind := range a.kinds {
		names = append(names, kind.Kind+"."+kind.Group)
	}
	return strings.Join(names, ", ")
}

// Start implements manager.Runnable. The error ends the manager, and its container is restarted.
func (a awaited) Start(ctx context.Context) error {
	log.FromContext(ctx).Info("kinds are not served: their CRDs are missing, or cannot be read now; the operator starts again when one is there",
		"kinds", a.String())
	var found error
	err := wait.PollUntilContextCancel(ctx, awaitPeriod, false, func(context.Context) (bool, error) {
		for _, kind := range a.kinds {
			if _, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil {
				found = fmt.Errorf("the cluster serves %s now: starting again to serve it, too", kind.Kind)
			}
		}
		return found != nil, nil
	})
	if found == nil && err != nil {
		return nil // the manager ends
	}
	return found
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (awaited) NeedLeaderElection() bool { return false }

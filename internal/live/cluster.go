// Package live reads from a cluster what the command line needs: the kinds that it serves, defaults of namespaces, releases, and the
// dependencies of resources. The operator has caches for that; here, each read is a request, and what may not be read is reported and left
// out. The package writes nothing.
package live

import (
	"context"
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/policy"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/watch"
)

// Cluster reads from a cluster. It is for one command, and not safe for concurrent use.
type Cluster struct {
	// Capabilities describe what the cluster serves.
	Capabilities *chartutil.Capabilities
	// Policy is the platform's; everything is allowed without one. Only the operator knows its location.
	Policy *policy.Policy

	reader       client.Client
	dependencies *dependency.Dependencies
	missed       func(string)
	said         map[string]bool
}

// Open returns a reader. What may not be read is reported to missed, once for each thing.
func Open(ctx context.Context, reader client.Client, config *rest.Config, missed func(string)) (*Cluster, error) {
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	served := &watch.Discovered{Discovery: discoverer, Clock: clock.RealClock{}}
	capabilities, _, err := served.Get(ctx)
	if err != nil {
		return nil, err
	}
	return &Cluster{
		Capabilities: capabilities, reader: reader, dependencies: dependency.NewDependencies(reader, reader), missed: missed, said: map[string]bool{},
	}, nil
}

// Scope sets on a renderer which kinds are cluster-scoped.
func (c *Cluster) Scope(renderer *render.Renderer) {
	renderer.ClusterScoped = func(kind schema.GroupVersionKind) bool {
		mapping, err := c.reader.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		return err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot
	}
}

// unless reports whether an error means that something may not be read, and reports the consequence. Any other error is returned.
func (c *Cluster) unless(err error, meaning string) (forbidden bool, _ error) {
	if !apierrors.IsForbidden(err) {
		return false, err
	}
	if !c.said[meaning] {
		c.said[meaning] = true
		c.missed(fmt.Sprintf("%s: %v", meaning, err))
	}
	return true, nil
}

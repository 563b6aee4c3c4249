// Package live reads from a cluster what the command line has to know of it: what it serves, what namespaces say, what was released, and what
// resources depend on. The manager has caches for that; here, each question is a request, and what must not be read is said and left out.
// The package writes nothing.
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

// Cluster answers questions about a cluster. It is for one command, and not for concurrent use.
type Cluster struct {
	// Capabilities are what the cluster serves.
	Capabilities *chartutil.Capabilities
	// Policy is the platform's; everything is allowed without one. Only the manager knows where it is.
	Policy *policy.Policy

	reader       client.Client
	dependencies *dependency.Dependencies
	missed       func(string)
	said         map[string]bool
}

// Open makes a reader. What may not be read is said to missed, each thing once.
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

// Scope has a renderer know which kinds live outside of namespaces.
func (c *Cluster) Scope(renderer *render.Renderer) {
	renderer.ClusterScoped = func(kind schema.GroupVersionKind) bool {
		mapping, err := c.reader.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		return err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot
	}
}

// unless reports whether something may not be read, and says what that means. Any other error is returned.
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

package controller

import (
	"context"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/watch"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/internal/operator/rollout"
	"github.com/example/appservice-operator/internal/operator/status"
)

// Reconciler reconciles the resources of one kind. It is safe for concurrent use on different resources.
type Reconciler struct {
	Kind         schema.GroupVersionKind
	Charts       *render.Current
	Capabilities watch.CapabilitiesSource
	// Fields knows which fields the kinds of the cluster have; nil if nothing is known.
	Fields     render.Fields
	Observer   *livestate.Observer
	Actor      *release.Actor
	Status     *status.Writer
	Tracker    KindTracker
	References ReferenceSource
	Hosts      *hosts.Hosts
	// Defaults of namespaces, which lie beneath specs; nil if namespaces may not have any.
	Defaults DefaultsSource
	Rollouts *rollout.Rollouts
	// Others are the other kinds that are served: release records of all kinds have names of one space.
	Others   []schema.GroupVersionKind
	Looks    *rate.Limiter    // bounds how often pods are looked at; nil for no bound
	InFlight *limits.InFlight // bounds the resources reconciled at a time; nil for no bound
	Policy   *policy.Current  // the platform's, for the status; nil for none
	Client   client.Client    // reads come from informers
	Live     client.Reader    // reads from the API server
	Recorder record.EventRecorder
	Metrics  *metrics.Kind
	Clock    clock.PassiveClock
	// UsersWait reports whether users wait for other resources; nil for never.
	UsersWait func() bool
	// Period after which a resource is reconciled again without a cause; 0 for never.
	Period time.Duration

	memory memory
}

// KindTracker ensures that a kind is watched and that its objects are in the caches.
type KindTracker interface {
	Ensure(ctx context.Context, kind schema.GroupVersionKind) error
}

// ReferenceSource knows which of the objects that resources refer to exist.
type ReferenceSource interface {
	// Refer records everything that a resource refers to, its namespace included.
	Refer(name types.NamespacedName, references []reference.Reference)
	// Forget drops a resource that no longer exists.
	Forget(name types.NamespacedName)
	// Facts returns what hooks may know about the cluster.
	Facts(ctx context.Context, resource client.Object, references []reference.Reference) (postrender.Facts, error)
	// Gateways returns the facts about Gateways; nil for those that do not exist.
	Gateways(ctx context.Context, names []types.NamespacedName) gateway.Gateways
}

// DefaultsSource returns the defaults of namespaces for the specs of a kind.
type DefaultsSource interface {
	Of(ctx context.Context, namespace string) (defaults.Text, error)
}

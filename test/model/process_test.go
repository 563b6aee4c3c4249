package model

import (
	"context"
	"reflect"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/internal/operator/controller"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/internal/operator/rollout"
	"github.com/example/appservice-operator/internal/operator/status"
)

var (
	appService = v1.GroupVersion.WithKind(v1.Kind)
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	start      = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// keeps is how many records the operator keeps: few, so that one has to be deleted soon.
const keeps = 2

// process is one life of the operator: its real reconciler, between a client and informers of the model.
type process struct {
	*controller.Reconciler
	*informers
	world *world
	dead  *bool

	queued bool
	timers []time.Time
}

var kindMetrics = metrics.New().Kind(appService.Kind, tiny.Metadata)

func newProcess(w *world) *process {
	dead := false
	shown := &informers{store: map[kube.Key]*unstructuredObject{}, told: map[string]int{}}
	direct := &connection{world: w, dead: &dead}
	cached := &cachedReads{connection: direct, cached: &connection{world: w, informers: shown, dead: &dead}}
	observer := livestate.New(nil, shown, direct)
	for _, kind := range w.shape.observed() {
		observer.Include(kind, false, allShown)
	}
	p := &process{informers: shown, world: w, dead: &dead}
	p.Reconciler = &controller.Reconciler{
		Kind:         w.shape.kind,
		Charts:       render.NewCurrent(&render.Renderer{Chart: w.shape.chart, Translator: values.For(w.shape.kind, w.shape.chart, nil), Hooks: postrender.Default()}),
		Capabilities: capabilities{},
		Observer:     observer,
		Actor:        release.NewActor(&livestate.Writer{Client: cached, Secrets: direct, Observer: observer}, direct, keeps),
		Status:       &status.Writer{Client: cached, Clock: w.clock},
		Client:       cached,
		Live:         direct,
		Tracker:      nothing{},
		References:   nothing{},
		Recorder:     nothing{},
		Hosts:        hosts.New(nil, nil, nil, nil),
		Metrics:      kindMetrics,
		Clock:        w.clock,
	}
	p.Rollouts = &rollout.Rollouts{Limit: 1, Deadline: time.Hour, Chart: p.Chart, Clock: w.clock, Names: func() ([]types.NamespacedName, error) {
		return []types.NamespacedName{{Namespace: namespace, Name: name}}, nil
	}}
	return p
}

// cachedReads reads from the informers, and writes.
type cachedReads struct {
	*connection
	cached *connection
}

func (c *cachedReads) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return c.cached.Get(ctx, key, into, options...)
}

// capabilities are those of any cluster.
type capabilities struct{}

func (capabilities) Get(context.Context) (*chartutil.Capabilities, int64, error) {
	return chartutil.DefaultCapabilities, 1, nil
}

// nothing stands for what the model leaves out: kinds that come up, references, events.
type nothing struct{}

func (nothing) Ensure(context.Context, schema.GroupVersionKind) error                             { return nil }
func (nothing) Refer(types.NamespacedName, []reference.Reference)                                 {}
func (nothing) Forget(types.NamespacedName)                                                       {}
func (nothing) Event(runtime.Object, string, string, string)                                      {}
func (nothing) Eventf(runtime.Object, string, string, string, ...any)                             {}
func (nothing) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {}
func (nothing) Gateways(context.Context, []types.NamespacedName) gateway.Gateways                 { return nil }

func (nothing) Facts(context.Context, client.Object, []reference.Reference) (postrender.Facts, error) {
	return postrender.Facts{}, nil
}

// reconcile runs one requested reconcile.
func (p *process) reconcile(ctx context.Context) {
	p.queued = false
	result, err := p.Reconcile(ctx, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}})
	switch {
	case *p.dead:
	case err != nil:
		p.queued = true
	case result.RequeueAfter > 0:
		p.timers = append(p.timers, p.world.clock.Now().Add(result.RequeueAfter))
	}
}

// wake advances time to the next timer that requests a reconcile, and reports whether there is one.
func (p *process) wake() bool {
	if len(p.timers) == 0 {
		return false
	}
	next := 0
	for i := range p.timers {
		if p.timers[i].Before(p.timers[next]) {
			next = i
		}
	}
	if at := p.timers[next]; at.After(p.world.clock.Now()) {
		p.world.clock.SetTime(at)
	}
	p.timers = append(p.timers[:next], p.timers[next+1:]...)
	p.queued = true
	return true
}

// tell passes a watch event to the process, as the handlers of the operator do.
func (p *process) tell(before, after *unstructuredObject, deleted bool) {
	object := after
	if deleted {
		object = before
	}
	if isResource(object) {
		if before == nil || deleted || before.GetGeneration() != after.GetGeneration() || !reflect.DeepEqual(before.GetAnnotations(), after.GetAnnotations()) {
			p.queued = true
		}
		if before != nil && !deleted {
			p.Status.Update(context.Background(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, queue{add: func() { p.queued = true }})
		}
		return
	}
	if before != nil && !deleted && ownerOf(before) != ownerOf(after) {
		p.seen(ownerOf(before), after, false)
	}
	p.seen(ownerOf(object), object, deleted)
}

func (p *process) seen(owner types.UID, object *unstructuredObject, deleted bool) {
	if owner != "" && !p.Observer.Seen(owner, object, deleted) {
		p.queued = true
	}
}

// isResource reports whether an object is of a kind that the operator serves.
func isResource(object *unstructuredObject) bool {
	return object.GetAPIVersion() == v1.GroupVersion.String()
}

func ownerOf(object *unstructuredObject) types.UID {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil && owner.APIVersion == v1.GroupVersion.String() {
		return owner.UID
	}
	return ""
}

type queue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	add func()
}

func (q queue) Add(reconcile.Request) { q.add() }

// allShown makes informers show all objects of a kind, late or not.
func allShown() error { return nil }

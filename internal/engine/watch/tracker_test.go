package watch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

var (
	appService = v1.GroupVersion.WithKind(v1.Kind)
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	start      = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	widgets    = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
)

// app is the resource demo/web.
func app() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "app.example.com/v1", "kind": "AppService"}}
	o.SetNamespace("demo")
	o.SetName("web")
	o.SetUID("web-uid")
	o.SetResourceVersion("1")
	return o
}

// uidOf knows the resource demo/web.
func uidOf(name types.NamespacedName) types.UID {
	if name != (types.NamespacedName{Namespace: "demo", Name: "web"}) {
		return ""
	}
	return "web-uid"
}

// Users who make an object in another namespace can name the UID of the resource, and by a label any resource.
func TestAnObjectElsewhereTellsNothingOfAResource(t *testing.T) {
	observer := livestate.New(nil, nil, nil)
	tracker := &Tracker{Owner: appService, Observer: observer, Enqueue: true, UIDOf: uidOf}
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	observer.Wrote("web-uid", controlled("5", "app.example.com/v1", "AppService", "web", "web-uid"))

	referring := controlled("6", "app.example.com/v1", "AppService", "web", "web-uid")
	labeled := controlled("7", "", "", "", "")
	labeled.SetLabels(map[string]string{v1.LabelOwner: "web-uid"})
	labeled.SetAnnotations(map[string]string{v1.AnnotationOwnerKind: v1.Kind, "meta.helm.sh/release-namespace": "demo", "meta.helm.sh/release-name": "web"})
	for _, object := range []*unstructured.Unstructured{referring, labeled} {
		object.SetNamespace("elsewhere")
		tracker.Create(t.Context(), event.CreateEvent{Object: object}, q)
	}
	for q.Len() > 0 {
		if request, _ := q.Get(); request.Namespace != "elsewhere" {
			t.Errorf("got a request for %s", request)
		}
	}
	snapshot, err := observer.Snapshot(t.Context(), app(), nil)
	require.NoError(t, err)
	if len(snapshot.Objects) != 1 {
		t.Error("what was written for the resource was taken for seen")
	}
}

// controlled is one version of a ConfigMap called settings that a resource controls.
func controlled(resourceVersion, apiVersion, kind, name, uid string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	o.SetNamespace("demo")
	o.SetName("settings")
	o.SetUID("c-1")
	o.SetResourceVersion(resourceVersion)
	if kind != "" {
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(uid), Controller: ptr.To(true)}})
	}
	return o
}

func ours(resourceVersion string) *unstructured.Unstructured {
	return controlled(resourceVersion, "app.example.com/v1", "AppService", "web", "web-uid")
}

func nobodys(resourceVersion string) *unstructured.Unstructured {
	return controlled(resourceVersion, "", "", "", "")
}

// happened is an event of an object.
type happened func(*Tracker, queue)

func created(object client.Object) happened {
	return func(t *Tracker, q queue) { t.Create(context.Background(), event.CreateEvent{Object: object}, q) }
}

func changed(before, after client.Object) happened {
	return func(t *Tracker, q queue) {
		t.Update(context.Background(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
	}
}

func deleted(object client.Object) happened {
	return func(t *Tracker, q queue) { t.Delete(context.Background(), event.DeleteEvent{Object: object}, q) }
}

func TestTrackerTurnsEventsIntoReconciles(t *testing.T) {
	only := ours("5")
	only.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: "AppService", Name: "web", UID: "web-uid"}})
	others := controlled("6", "app.example.com/v1", "AppService", "other", "other-uid")
	foreign := controlled("6", "v1", "Widget", "w", "w-uid")
	cases := map[string]struct {
		wrote  client.Object // by this process, before the event
		event  happened
		want   []string // names of resources to reconcile
		knows  bool     // the journal still corrects an informer that does not show the object
		silent bool     // reconciles by dependent resources are switched off
	}{
		"an object of a resource is created":              {event: created(ours("5")), want: []string{"web"}},
		"an object of a resource is changed":              {event: changed(ours("5"), ours("6")), want: []string{"web"}},
		"an object of a resource is deleted":              {event: deleted(ours("6")), want: []string{"web"}},
		"an object that nobody controls":                  {event: created(nobodys("5"))},
		"an object that a resource owns, no more":         {event: created(only)},
		"an object that another kind controls":            {event: created(foreign)},
		"an object of a kind of that name elsewhere":      {event: created(controlled("5", "other.example.org/v1", "AppService", "web", "x"))},
		"an object of the kind in another version":        {event: created(controlled("5", "app.example.com/v1beta1", "AppService", "web", "x")), want: []string{"web"}},
		"an object is shown again as it was":              {event: changed(ours("5"), ours("5"))},
		"reconciles by dependent resources are off":       {event: created(ours("5")), silent: true},
		"the echo of a create":                            {wrote: ours("5"), event: created(ours("5"))},
		"the echo of a change":                            {wrote: ours("6"), event: changed(ours("5"), ours("6"))},
		"the echo where reconciles are off":               {wrote: ours("6"), event: changed(ours("5"), ours("6")), silent: true},
		"an event from before the write":                  {wrote: ours("7"), event: changed(ours("5"), ours("6")), knows: true},
		"an event from after the write":                   {wrote: ours("6"), event: changed(ours("6"), ours("7")), want: []string{"web"}},
		"a deletion after the write":                      {wrote: ours("6"), event: deleted(ours("7")), want: []string{"web"}},
		"it loses its controller":                         {event: changed(ours("5"), nobodys("6")), want: []string{"web"}},
		"it loses its controller after the write":         {wrote: ours("5"), event: changed(ours("5"), nobodys("6")), want: []string{"web"}},
		"it lost its controller and was given it back":    {wrote: ours("7"), event: changed(ours("5"), nobodys("6")), knows: true},
		"it gets its controller":                          {event: changed(nobodys("5"), ours("6")), want: []string{"web"}},
		"the echo of getting its controller":              {wrote: ours("6"), event: changed(nobodys("5"), ours("6"))},
		"it is taken over by another kind":                {event: changed(ours("5"), foreign), want: []string{"web"}},
		"it is taken over by another kind, after a write": {wrote: ours("5"), event: changed(ours("5"), foreign), want: []string{"web"}},
		"it is taken over by another resource":            {event: changed(ours("5"), others), want: []string{"other", "web"}},
		"an object that another kind loses":               {event: changed(foreign, nobodys("7"))},
		"a generic event":                                 {event: func(t *Tracker, q queue) { t.Generic(context.Background(), event.GenericEvent{Object: ours("5")}, q) }},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			observer := livestate.New(nil, nil, nil)
			tracker := &Tracker{Owner: appService, Observer: observer, Enqueue: !test.silent, UIDOf: uidOf}
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer q.ShutDown()
			if test.wrote != nil {
				observer.Wrote("web-uid", test.wrote)
			}
			test.event(tracker, q)
			var got []string
			for q.Len() > 0 {
				request, _ := q.Get()
				if request.Namespace != "demo" {
					t.Errorf("got a request for namespace %q", request.Namespace)
				}
				got = append(got, request.Name)
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("got reconciles of %v, want %v", got, test.want)
			}
			owner := app()
			snapshot, err := observer.Snapshot(t.Context(), owner, nil)
			require.NoError(t, err)
			if knows := len(snapshot.Objects) == 1; knows != test.knows {
				t.Errorf("the journal shows the object: %t, want %t", knows, test.knows)
			}
		})
	}
}

// server is an API server that serves ConfigMaps, and Widgets to those who are allowed to list them.
type server struct {
	allowed atomic.Bool
}

func (c *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer := func(code int, body any) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/widgets") && !c.allowed.Load():
		answer(http.StatusForbidden, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Details: &metav1.StatusDetails{Group: "example.com", Kind: "widgets"}})
	case r.URL.Query().Get("sendInitialEvents") != "":
		answer(http.StatusUnprocessableEntity, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity})
	case r.URL.Query().Get("watch") != "":
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case strings.HasSuffix(r.URL.Path, "/widgets"):
		answer(http.StatusOK, map[string]any{"apiVersion": "example.com/v1", "kind": "WidgetList", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{}})
	default:
		answer(http.StatusOK, map[string]any{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{}})
	}
}

// started is a controller that runs already: it starts the sources that it is given.
type started struct {
	controller.Controller
	ctx   context.Context
	queue queue
}

func (s *started) Watch(watched source.Source) error { return watched.Start(s.ctx, s.queue) }

// newTracker makes a tracker on informers of a cluster.
func newTracker(t *testing.T, api *server) *Tracker {
	t.Helper()
	served := httptest.NewServer(api)
	t.Cleanup(served.Close)
	t.Cleanup(served.CloseClientConnections)
	ctx, cancel := context.WithCancel(context.Background())
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(configMaps, meta.RESTScopeNamespace)
	mapper.Add(widgets, meta.RESTScopeNamespace)
	made := &kube.Informers{}
	informers, err := cache.New(&rest.Config{Host: served.URL}, cache.Options{Scheme: scheme.Scheme, Mapper: mapper, NewInformer: made.New})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- informers.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		served.CloseClientConnections()
		assert.NoError(t, <-ended)
	})
	if !informers.WaitForCacheSync(ctx) {
		t.Fatal("the informers do not start")
	}
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	return &Tracker{
		Owner: appService, Cache: informers, Informers: made, Mapper: mapper, Observer: livestate.New(informers, made, nil), Enqueue: true,
		Controller: &started{ctx: ctx, queue: q},
	}
}

func TestAKindThatMayNotBeWatched(t *testing.T) {
	api := &server{}
	tracker := newTracker(t, api)
	sees := func(kind schema.GroupVersionKind) error {
		t.Helper()
		snapshot, err := tracker.Observer.Snapshot(t.Context(), app(), nil)
		require.NoError(t, err)
		return snapshot.Sees([]kube.Key{{GroupKind: kind.GroupKind(), Name: "web"}})
	}
	require.NoError(t, tracker.Ensure(t.Context(), configMaps))
	var untracked *UntrackedError
	err := tracker.Ensure(t.Context(), widgets)
	if want := "the operator may not list and watch example.com/widgets"; !errors.As(err, &untracked) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if sees(widgets) == nil || sees(configMaps) != nil {
		t.Errorf("of the kind that may not be watched, snapshots say %v, of another one %v", sees(widgets), sees(configMaps))
	}
	api.allowed.Store(true)
	begin := time.Now()
	for err != nil && time.Since(begin) < time.Minute {
		err = tracker.Ensure(t.Context(), widgets)
	}
	if err != nil || sees(widgets) != nil {
		t.Errorf("it may be watched now: got %v and %v", err, sees(widgets))
	}
	t.Logf("watched after %s", time.Since(begin))
}

func TestTheFirstReconcileWaitsUntilKindsAreSeenOrRefused(t *testing.T) {
	tracker := newTracker(t, &server{})
	controller := &waiting{started: tracker.Controller.(*started)}
	tracker.Controller, tracker.Owner = controller, configMaps
	require.NoError(t, tracker.Preload(t.Context(), widgets))
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := controller.gate.WaitForSync(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before the kind of the controller is seen: got %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := controller.gate.WaitForSync(stopped); err != nil {
		t.Errorf("where the manager ends: got %v", err)
	}
	require.NoError(t, tracker.Ensure(t.Context(), configMaps))
	if err := controller.gate.WaitForSync(t.Context()); err != nil {
		t.Errorf("after it is seen: got %v", err)
	}
}

// waiting is a controller that keeps the source which it would wait for.
type waiting struct {
	*started
	gate source.SyncingSource
}

func (w *waiting) Watch(watched source.Source) error {
	if gate, ok := watched.(source.SyncingSource); ok {
		w.gate = gate
	}
	return w.started.Watch(watched)
}

func TestAKindThatIsNotServed(t *testing.T) {
	tracker := newTracker(t, &server{})
	unknown := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}
	// The first reconcile waits for those that are served: for any other there is nothing to wait for.
	if served, err := tracker.watchServed(t.Context(), []schema.GroupVersionKind{configMaps, unknown}); err != nil || !slices.Equal(served, []schema.GroupVersionKind{configMaps}) {
		t.Errorf("watched are %v, %v", served, err)
	}
	var untracked *UntrackedError
	if err := tracker.Ensure(t.Context(), unknown); !errors.As(err, &untracked) || !meta.IsNoMatchError(err) {
		t.Errorf("got %v", err)
	}
	if _, err := tracker.Observer.Snapshot(t.Context(), app(), nil); err != nil {
		t.Error(err)
	}
	tracker.Mapper.(*meta.DefaultRESTMapper).Add(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}, meta.RESTScopeNamespace)
	if err := tracker.Ensure(t.Context(), unknown); err != nil {
		t.Errorf("it is not watched once it is served: %v", err)
	}
}

// failing is a mapper that does not answer about one kind for now.
type failing struct {
	meta.RESTMapper
	about string
}

func (f *failing) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if kind.Kind == f.about {
		return nil, errors.New("the API server is away")
	}
	return f.RESTMapper.RESTMapping(kind, versions...)
}

// A kind that cannot be watched, for now or for ever, keeps no controller from its start.
func TestAKindThatCannotBeWatchedHoldsBackItsResourcesOnly(t *testing.T) {
	tracker := newTracker(t, &server{})
	later := &failing{tracker.Mapper, "Widget"}
	tracker.Mapper = later
	served, err := tracker.watchServed(t.Context(), []schema.GroupVersionKind{CRDKind, widgets, configMaps})
	require.NoError(t, err)
	require.Equal(t, []schema.GroupVersionKind{configMaps}, served)
	require.ErrorContains(t, tracker.Ensure(t.Context(), CRDKind), "this operator writes no definitions of kinds")
	require.ErrorContains(t, tracker.Ensure(t.Context(), widgets), "the API server is away")
	later.about = "Secret"
	_, err = tracker.watch(t.Context(), widgets)
	require.NoError(t, err, "it is tried again")
	_, err = tracker.watchServed(t.Context(), []schema.GroupVersionKind{kube.SecretKind})
	require.ErrorContains(t, err, "the API server is away", "records say what is deployed")
}

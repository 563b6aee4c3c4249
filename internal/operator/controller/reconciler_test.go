package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	helmvalues "github.com/operator-framework/helm-operator-plugins/pkg/values"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/internal/engine/watch"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/internal/operator/rollout"
	"github.com/example/appservice-operator/internal/operator/status"
)

const template = `
{{- if eq .Values.image "refused" }}{{ fail "this image is refused" }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {image: {{ .Values.image | quote }}}
`

var webName = types.NamespacedName{Namespace: "demo", Name: "web"}

// bench is a reconciler on an API server that holds the resource only. Its informers show nothing: what it knows of
// other objects it knows from the journal.
var (
	appService = v1.GroupVersion.WithKind(v1.Kind)
	start      = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

type bench struct {
	*Reconciler
	clock    *clocktesting.FakePassiveClock
	client   client.Client
	recorder *record.FakeRecorder
	renders  int
	statuses int   // writes of the status
	refuse   error // answer to the next writes of the status
	source   syncedSource
	facts    factSource
}

// factSource tells what a test says of the cluster, and counts what resources refer to.
type factSource struct {
	known    postrender.Facts
	referred map[types.NamespacedName]int
}

// Refer implements ReferenceSource.
func (s *factSource) Refer(name types.NamespacedName, references []reference.Reference) {
	if s.referred == nil {
		s.referred = map[types.NamespacedName]int{}
	}
	s.referred[name] = len(references)
}

// Forget implements ReferenceSource.
func (s *factSource) Forget(name types.NamespacedName) { delete(s.referred, name) }

// Facts implements ReferenceSource.
func (s *factSource) Gateways(context.Context, []types.NamespacedName) gateway.Gateways { return nil }

func (s *factSource) Facts(context.Context, client.Object, []reference.Reference) (postrender.Facts, error) {
	return s.known, nil
}

// syncedSource tracks all kinds, or none.
type syncedSource struct{ err error }

// Ensure implements KindTracker.
func (s *syncedSource) Ensure(_ context.Context, kind schema.GroupVersionKind) error {
	if s.err != nil {
		return &watch.UntrackedError{Kind: kind, Err: s.err}
	}
	return nil
}

type known struct{ err error }

func (k known) Get(context.Context) (*chartutil.Capabilities, int64, error) {
	return chartutil.DefaultCapabilities, 1, k.err
}

func newBench(t *testing.T, image string) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	web := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "web-uid", Generation: 1}, Spec: v1.AppServiceSpec{Image: image}}
	b := &bench{clock: clocktesting.NewFakePassiveClock(start), recorder: record.NewFakeRecorder(100)}
	inner := fake.NewClientBuilder().WithScheme(scheme).WithObjects(web).WithStatusSubresource(web).Build()
	b.client = interceptor.NewClient(inner, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			b.statuses++
			if b.refuse != nil {
				return b.refuse
			}
			if err := anotherUID(ctx, c, object, patch); err != nil {
				return err
			}
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
	})
	tiny := &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: "v2", Name: "tiny", Version: "0.1.0"},
		Templates: []*chart.File{{Name: "templates/configmap.yaml", Data: []byte(template)}},
	}
	translator := values.For(appService, tiny, nil)
	b.Reconciler = &Reconciler{
		Hosts: hosts.New(nil, nil, nil, nil),
		Kind:  appService,
		Charts: render.NewCurrent(&render.Renderer{
			Chart: tiny,
			Translator: helmvalues.TranslatorFunc(func(ctx context.Context, resource *unstructured.Unstructured) (chartutil.Values, error) {
				b.renders++
				if image, _, _ := unstructured.NestedString(resource.Object, "spec", "image"); image == "untranslatable" {
					return nil, errors.New("cannot read spec: spec.image is not an image")
				}
				return translator.Translate(ctx, resource)
			}),
			Hooks: postrender.Default(),
		}),
		Capabilities: known{},
		Observer:     livestate.New(nil, nil, nil),
		Actor:        release.NewActor(nil, nil, 1),
		Client:       b.client,
		Live:         b.client,
		Recorder:     b.recorder,
		Metrics:      metrics.New().Kind(appService.Kind, &chart.Metadata{}),
		Clock:        b.clock,
		Period:       20 * time.Second,
		Status:       &status.Writer{Client: b.client, Clock: b.clock},
	}
	b.Tracker = &b.source
	b.References = &b.facts
	b.Rollouts = &rollout.Rollouts{
		Limit: 1, MaxFailed: 3, Deadline: time.Hour, Chart: b.Chart, Clock: b.clock,
		Names: func() ([]types.NamespacedName, error) { return []types.NamespacedName{webName}, nil },
	}
	return b
}

// anotherUID answers as the API server does to a patch with the UID of another object.
func anotherUID(ctx context.Context, c client.Client, object client.Object, patch client.Patch) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	var wanted struct{ Metadata struct{ UID types.UID } }
	if err := json.Unmarshal(data, &wanted); err != nil {
		return err
	}
	live := &v1.AppService{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return err
	}
	if uid := wanted.Metadata.UID; uid != "" && uid != live.UID {
		return apierrors.NewConflict(schema.GroupResource{Resource: "appservices"}, live.Name, errors.New("the UID in the precondition does not match"))
	}
	return nil
}

// reconcile runs one and gives the time until the next.
func (b *bench) reconcile(t *testing.T) time.Duration {
	t.Helper()
	result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: webName})
	require.NoError(t, err)
	return result.RequeueAfter
}

func (b *bench) web(t *testing.T) *v1.AppService {
	t.Helper()
	web := &v1.AppService{}
	require.NoError(t, b.client.Get(t.Context(), webName, web))
	return web
}

// change makes the next generation of the resource.
func (b *bench) change(t *testing.T, image string) {
	t.Helper()
	web := b.web(t)
	web.Spec.Image = image
	web.Generation++
	require.NoError(t, b.client.Update(t.Context(), web))
}

// installed lets the journal know of a release and objects as they are rendered.
func (b *bench) installed(t *testing.T) {
	t.Helper()
	for _, object := range b.released(t).Objects {
		live := object.DeepCopy()
		live.SetUID("c-1")
		live.SetResourceVersion("5")
		b.Observer.Wrote("web-uid", live)
	}
}

// released lets the journal know of a release of the rendered objects, and of none of its objects.
func (b *bench) released(t *testing.T) *render.Result {
	t.Helper()
	desired := b.rendered(t)
	b.recorded(t, map[string]string{v1.LabelDigest: desired.Digest, v1.LabelChartVersion: "0.1.0"})
	return desired
}

// recorded lets the journal know of a release record with some labels.
func (b *bench) recorded(t *testing.T, labels map[string]string) {
	t.Helper()
	maps.Copy(labels, map[string]string{"owner": "helm", "version": "1", "status": "deployed", v1.LabelManaged: "true"})
	release := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "demo", Name: "sh.helm.release.v1.web.v1", ResourceVersion: "6", Labels: labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b.web(t), v1.GroupVersion.WithKind(v1.Kind))},
	}}
	release.SetGroupVersionKind(kube.SecretKind)
	b.Observer.Wrote("web-uid", release)
}

// rendered returns what the resource becomes, and counts renders from now on.
func (b *bench) rendered(t *testing.T) *render.Result {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b.web(t))
	require.NoError(t, err)
	resource := &unstructured.Unstructured{Object: content}
	resource.SetGroupVersionKind(appService)
	desired, err := b.Charts.Get().Render(t.Context(), resource, chartutil.DefaultCapabilities)
	require.NoError(t, err)
	b.renders = 0
	return desired
}

func (b *bench) events() []string {
	var list []string
	for len(b.recorder.Events) > 0 {
		list = append(list, <-b.recorder.Events)
	}
	return list
}

func TestAReconcileInSyncWritesTheStatusOnceAndThenNothing(t *testing.T) {
	b := newBench(t, "nginx")
	b.installed(t)
	for range 3 {
		if next := b.reconcile(t); next != b.Period {
			t.Errorf("the next one comes after %s, want the period of the kind", next)
		}
		b.clock.SetTime(b.clock.Now().Add(b.Period))
	}
	if b.statuses != 1 || b.renders != 1 {
		t.Errorf("got %d status writes and %d renders, want one of each", b.statuses, b.renders)
	}
	web := b.web(t)
	if !meta.IsStatusConditionTrue(web.Status.Conditions, v1.ConditionReady) || web.Status.ObservedGeneration != 1 || web.Status.Release == nil {
		t.Errorf("got %+v", web.Status)
	}
	if events := b.events(); len(events) != 0 {
		t.Errorf("got events: %v", events)
	}
}

// loads puts a chart to use that differs in one file.
func (b *bench) loads(version string) {
	earlier := b.Charts.Get()
	changed := *earlier.Chart
	changed.Raw = []*chart.File{{Name: "values.yaml", Data: []byte(version)}}
	b.Charts.Set(&render.Renderer{Chart: &changed, Translator: earlier.Translator, Hooks: earlier.Hooks})
}

func TestAnotherChartIsRenderedOnce(t *testing.T) {
	b := newBench(t, "nginx")
	b.installed(t)
	b.reconcile(t)
	b.renders = 0
	for _, version := range []string{"two", "two", "three"} {
		b.loads(version)
		b.reconcile(t)
		b.reconcile(t)
	}
	if b.renders != 2 {
		t.Errorf("got %d renders, want one of each of two charts", b.renders)
	}
}

func TestNothingIsRenderedAgainWhenAnObjectChanges(t *testing.T) {
	b := newBench(t, "nginx")
	b.installed(t)
	b.reconcile(t)
	uid := b.web(t).UID
	for _, object := range b.rendered(t).Objects {
		live := object.DeepCopy()
		live.SetUID("c-1")
		live.SetResourceVersion("7")
		b.Observer.Wrote(uid, live)
	}
	b.reconcile(t)
	b.reconcile(t)
	if b.renders != 0 || b.statuses != 1 {
		t.Errorf("got %d renders and %d status writes, want none and one", b.renders, b.statuses)
	}
}

// Where a watch breaks, the event of a write may never come.
func TestWhatTheInformersDoNotShowIsLookedAtAgain(t *testing.T) {
	cases := map[string]struct {
		period      time.Duration
		unconfirmed bool
		want        time.Duration
	}{
		"all is shown":                                {0, false, 0},
		"all is shown, and there is a period":         {time.Hour, false, time.Hour},
		"something is not":                            {0, true, livestate.Lapse},
		"something is not, the period is long":        {time.Hour, true, livestate.Lapse},
		"something is not, the period is over before": {time.Second, true, time.Second},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{Period: test.period}
			s := &scope{resource: app("a"), memory: &remembered{}}
			done := attempt{observed: &livestate.Snapshot{Unconfirmed: test.unconfirmed}}
			if got := r.next(s, rendering{}, done, 0).RequeueAfter; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestWhatCannotBeRendered(t *testing.T) {
	cases := map[string]struct {
		image, reason, message string
		source                 error
		capabilities           error
		stalled                bool
	}{
		"the spec cannot be translated": {image: "untranslatable", reason: v1.ReasonInvalidSpec, message: "spec.image is not an image", stalled: true},
		"the chart refuses":             {image: "refused", reason: v1.ReasonRenderFailed, message: "this image is refused", stalled: true},
		"a kind may not be watched":     {image: "nginx", source: errors.New("forbidden"), reason: v1.ReasonAPIUnavailable, message: "v1 ConfigMap", stalled: true},
		"the cluster does not tell what it serves": {
			image: "nginx", capabilities: errors.New("not now"), reason: "", message: "cannot read the capabilities of the cluster: not now",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.image)
			b.source.err = test.source
			b.Capabilities = known{test.capabilities}
			if next := b.reconcile(t); next != 5*time.Second {
				t.Errorf("the next one comes after %s, want 5s", next)
			}
			web := b.web(t)
			ready := meta.FindStatusCondition(web.Status.Conditions, v1.ConditionReady)
			if ready == nil || ready.Status != metav1.ConditionFalse || test.reason != "" && ready.Reason != test.reason || !strings.Contains(ready.Message, test.message) {
				t.Errorf("got %+v, want %s with %q", ready, test.reason, test.message)
			}
			if stalled := meta.IsStatusConditionTrue(web.Status.Conditions, v1.ConditionStalled); stalled != test.stalled {
				t.Errorf("Stalled is %t, want %t", stalled, test.stalled)
			}
			events := b.events()
			if len(events) != 1 || !strings.HasPrefix(events[0], "Warning "+ready.Reason+" ") {
				t.Errorf("got events %q, want one warning", events)
			}
			if b.statuses != 1 {
				t.Errorf("got %d status writes, want one", b.statuses)
			}
		})
	}
}

func TestAFailureIsTriedAgainLaterAndLaterAndToldOnce(t *testing.T) {
	b := newBench(t, "refused")
	for _, want := range []time.Duration{5, 10, 20, 40, 80, 120, 120} {
		if next := b.reconcile(t); next != want*time.Second {
			t.Errorf("the next one comes after %s, want %s", next, want*time.Second)
		}
		b.clock.SetTime(b.clock.Now().Add(want * time.Second))
	}
	if events := b.events(); len(events) != 1 || b.statuses != 1 {
		t.Errorf("got events %q and %d status writes, want one of each", events, b.statuses)
	}

	b.reconcile(t) // the last attempt
	renders := b.renders
	b.clock.SetTime(b.clock.Now().Add(time.Second))
	if next := b.reconcile(t); next != 4*time.Second || b.renders != renders {
		t.Errorf("a change 1 s after an attempt is tried after %s and %d renders, want 4s and none", next, b.renders-renders)
	}
	b.clock.SetTime(b.clock.Now().Add(4 * time.Second))
	if b.reconcile(t); b.renders != renders+1 {
		t.Errorf("a change 5 s after an attempt was not tried")
	}

	b.loads("another")
	if next := b.reconcile(t); next != 5*time.Second || b.renders != renders+2 {
		t.Errorf("another chart is tried after %s and %d renders, want at once", next, b.renders-renders-1)
	}

	renders = b.renders - 1
	b.change(t, "also refused")
	b.change(t, "refused")
	if next := b.reconcile(t); next != 5*time.Second || b.renders != renders+2 {
		t.Errorf("a new generation is tried after %s and %d renders, want at once", next, b.renders-renders-1)
	}
	if got := b.web(t).Status.ObservedGeneration; got != 3 {
		t.Errorf("observedGeneration: got %d, want 3", got)
	}

	b.change(t, "nginx")
	b.installed(t)
	if next := b.reconcile(t); next != b.Period {
		t.Errorf("after it healed the next one comes after %s, want the period of the kind", next)
	}
	if !meta.IsStatusConditionTrue(b.web(t).Status.Conditions, v1.ConditionReady) {
		t.Error("it is not ready")
	}
	if events := b.events(); len(events) != 1 || !strings.HasPrefix(events[0], "Normal Recovered ") {
		t.Errorf("got events %q, want that it recovered", events)
	}
	b.change(t, "refused")
	if next := b.reconcile(t); next != 5*time.Second {
		t.Errorf("a failure after success is tried again after %s, want 5s", next)
	}
	if events := b.events(); len(events) != 1 {
		t.Errorf("got events %q, want one for the new failure", events)
	}
}

func TestTheTimeOfTheNextAttemptIsToldWhileThatIsAllThatHelps(t *testing.T) {
	b := newBench(t, "nginx")
	b.clock.SetTime(start.Add(300 * time.Millisecond))
	b.source.err = errors.New("forbidden")
	for attempt, want := range []time.Duration{5, 10, 20} {
		b.reconcile(t)
		next := b.clock.Now().Add(want * time.Second).Truncate(time.Second).Add(time.Second) // in whole seconds, and never too early
		if got := b.web(t).Status.NextAttemptTime; got == nil || !got.Time.Equal(next) {
			t.Errorf("attempt %d: got %v, want %s", attempt, got, next)
		}
		b.clock.SetTime(b.clock.Now().Add(time.Second))
		b.reconcile(t) // a change that comes too early is not an attempt
		if b.statuses != attempt+1 {
			t.Errorf("after %d attempts the status was written %d times", attempt+1, b.statuses)
		}
		b.clock.SetTime(b.clock.Now().Add(want * time.Second))
	}
	if events := b.events(); len(events) != 1 {
		t.Errorf("got events %q, want one for all attempts", events)
	}
	b.source.err = nil
	b.installed(t)
	for range 2 {
		b.reconcile(t)
		if got := b.web(t).Status.NextAttemptTime; got != nil || b.statuses != 4 {
			t.Errorf("after success there are %d status writes and a next attempt at %v, want 4 and none", b.statuses, got)
		}
	}
	b.change(t, "refused")
	b.reconcile(t)
	if got := b.web(t).Status.NextAttemptTime; got != nil {
		t.Errorf("there is a next attempt at %v of what no time ends", got)
	}
}

func TestTheLogHasAllOfAnErrorOnce(t *testing.T) {
	b := newBench(t, "nginx")
	long := strings.Repeat("forbidden, because of this and that; ", 30) + "and that is why"
	b.source.err = errors.New(long)
	var lines []string
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
	for range 3 {
		if _, err := b.Reconcile(ctx, reconcile.Request{NamespacedName: webName}); err != nil {
			t.Fatal(err)
		}
		b.clock.SetTime(b.clock.Now().Add(2 * time.Minute))
	}
	if len(lines) != 1 || !strings.Contains(lines[0], long) {
		t.Errorf("got %q, want one line with the whole error", lines)
	}
	message := meta.FindStatusCondition(b.web(t).Status.Conditions, v1.ConditionReady).Message
	if len([]rune(message)) > 256 || !strings.HasSuffix(message, "and that is why") || !strings.HasPrefix(message, "the chart renders v1 ConfigMap") {
		t.Errorf("got the message %q", message)
	}
}

// Caches that are behind catch up within moments; what takes longer is reported.
func TestWhatTheCachesAreTooOldForIsTriedAgainSoonAndThenTold(t *testing.T) {
	b := newBench(t, "nginx")
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "appservices"}, "web")
	b.Live = interceptor.NewClient(b.client.(client.WithWatch), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return gone
		},
	})
	b.released(t)  // and its objects are missing
	for range 20 { // brought forward by events, they count for nothing
		b.reconcile(t)
	}
	attempts := append(slices.Repeat([]time.Duration{250 * time.Millisecond}, 8), 5*time.Second, 10*time.Second, 20*time.Second)
	for i, want := range attempts {
		if next, told := b.reconcile(t), b.statuses == 1; next != want || told != (i >= 8) {
			t.Errorf("attempt %d: the next one comes after %s and it is reported: %t; want %s, %t", i, next, told, want, i >= 8)
		}
		b.clock.SetTime(b.clock.Now().Add(want))
	}
	web := b.web(t)
	ready := meta.FindStatusCondition(web.Status.Conditions, v1.ConditionReady)
	if ready.Reason != v1.ReasonPending || !strings.Contains(ready.Message, "the resource is gone") || meta.IsStatusConditionTrue(web.Status.Conditions, v1.ConditionStalled) {
		t.Errorf("got %+v, want Pending with the cause, and not stalled", ready)
	}
	if events := b.events(); len(events) != 0 {
		t.Errorf("got events %q", events)
	}

	b.installed(t)
	if next := b.reconcile(t); next != b.Period {
		t.Errorf("after the cause is gone the next one comes after %s, want the period of the kind", next)
	}
	if !meta.IsStatusConditionTrue(b.web(t).Status.Conditions, v1.ConditionReady) {
		t.Error("it is not ready")
	}
	b.Observer.Forget("web-uid")
	b.released(t) // the objects are missing again
	if next := b.reconcile(t); next != 250*time.Millisecond {
		t.Errorf("after success the next one comes after %s, want soon again", next)
	}
}

func TestAResourceThatGoesIsLeftToTheGarbageCollector(t *testing.T) {
	b := newBench(t, "nginx")
	web := b.web(t)
	web.Finalizers = []string{"example.com/hold"}
	require.NoError(t, b.client.Update(t.Context(), web))
	require.NoError(t, b.client.Delete(t.Context(), web))
	if next := b.reconcile(t); next != 0 || b.renders != 0 || b.statuses != 0 {
		t.Errorf("got a next one after %s, %d renders and %d status writes, want none", next, b.renders, b.statuses)
	}
}

func TestAResourceThatIsGoneIsForgotten(t *testing.T) {
	b := newBench(t, "nginx")
	b.installed(t)
	b.reconcile(t)
	require.NoError(t, b.client.Delete(t.Context(), b.web(t)))
	if next := b.reconcile(t); next != 0 {
		t.Errorf("the next one comes after %s, want none", next)
	}
	snapshot, err := b.Observer.Snapshot(t.Context(), app("web-uid"), nil)
	require.NoError(t, err)
	if len(snapshot.Objects) != 0 || snapshot.Record != nil {
		t.Errorf("the journal still shows %v and %v", snapshot.Objects, snapshot.Record)
	}
	if len(b.memory.resources) != 0 {
		t.Errorf("the memory still has %v", b.memory.resources)
	}
}

// A resource may be deleted and created again before the first is known to be gone.
func TestAResourceMadeAnewLeavesNothingOfTheOneBefore(t *testing.T) {
	b := newBench(t, "nginx")
	b.installed(t)
	b.reconcile(t)
	web := b.web(t)
	require.NoError(t, b.client.Delete(t.Context(), web))
	again := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "second-uid", Generation: 1}, Spec: v1.AppServiceSpec{Image: "refused"}}
	require.NoError(t, b.client.Create(t.Context(), again))
	b.reconcile(t)
	if b.renders != 2 {
		t.Error("what was rendered for the first was taken for the second")
	}
	snapshot, err := b.Observer.Snapshot(t.Context(), app("web-uid"), nil)
	require.NoError(t, err)
	if len(snapshot.Objects) != 0 || snapshot.Record != nil {
		t.Errorf("the journal still has objects of the first: %v", snapshot.Objects)
	}
}

// A Secret that is deleted and made again with the same content restarts nothing: between the two, it is rendered as
// missing.
func TestContentThatIsAsRecordedKeepsItsVersion(t *testing.T) {
	references := []reference.Reference{{Object: reference.Object{Kind: "Secret", Name: "database"}, Content: true}}
	factsOf := func(version, data string) postrender.Facts {
		state := reference.State{Found: true, Version: version, Data: map[string]string{"url": data}}
		return postrender.Facts{States: map[reference.Object]reference.State{references[0].Object: state}}
	}
	recorded := reference.ContentOf(references, factsOf("one", "same").States)
	missing := reference.ContentOf(references, nil)
	for name, test := range map[string]struct {
		known *rendered
		facts postrender.Facts
		same  bool
	}{
		"by an earlier process":           {nil, factsOf("two", "same"), true},
		"as last rendered":                {&rendered{content: recorded}, factsOf("two", "same"), true},
		"rendered as missing meanwhile":   {&rendered{content: missing}, factsOf("two", "same"), true},
		"other content":                   {&rendered{content: recorded}, factsOf("two", "other"), false},
		"other content after it was gone": {&rendered{content: missing}, factsOf("two", "other"), false},
	} {
		t.Run(name, func(t *testing.T) {
			got := contentOf(references, test.facts, test.known, &livestate.Record{References: recorded.String()})
			if (got == recorded) != test.same {
				t.Errorf("got %s, recorded is %s", got, recorded)
			}
		})
	}
}

// A record that is deleted during a reconcile ends it: the next one begins with what is left.
func TestARecordThatGoesMeanwhileIsStale(t *testing.T) {
	b := newBench(t, "nginx")
	s := &scope{resource: app("web-uid"), memory: &remembered{}}
	there, err := b.observe(t.Context(), s, rendering{}, &livestate.Snapshot{})
	require.NoError(t, err)
	require.Nil(t, there.Record)
	_, err = b.observe(t.Context(), s, rendering{}, &livestate.Snapshot{Record: &livestate.Record{Revision: 1}})
	require.True(t, isStale(err), "got %v", err)
}

// Changes of content within a window are one rollout: the first at once, then one in ten seconds, the last always.
func TestContentThatChangesOftenIsTakenIntoAccountNowAndThen(t *testing.T) {
	settings := reference.Object{Kind: reference.ConfigMap, Name: "settings"}
	content := func(n int) postrender.Facts {
		return postrender.Facts{States: map[reference.Object]reference.State{settings: {Found: true, Data: map[string]string{"n": fmt.Sprint(n)}}}}
	}
	b := newBench(t, "nginx")
	b.facts.known = content(0)
	b.installed(t)
	b.reconcile(t)
	b.renders = 0
	var next time.Duration
	var at []int // seconds after which content was taken into account
	for n := range 12 {
		b.facts.known = content(n + 1)
		before := b.renders
		if next = b.reconcile(t); b.renders > before {
			at = append(at, n)
		}
		b.clock.SetTime(b.clock.Now().Add(time.Second))
	}
	if want := []int{0, 10}; !slices.Equal(at, want) {
		t.Errorf("changed content is taken into account after %v s, want %v", at, want)
	}
	if want := 9 * time.Second; next != want {
		t.Fatalf("the last change is taken into account after %s, want %s", next, want)
	}
	b.clock.SetTime(b.clock.Now().Add(next))
	b.reconcile(t)
	if got := b.memory.of(webName).rendered.facts.States[settings].Data["n"]; got != "12" || b.renders != 3 {
		t.Errorf("got content %s after %d renders, want the last after 3", got, b.renders)
	}
	b.facts.known = postrender.Facts{States: map[reference.Object]reference.State{settings: {}}}
	if b.reconcile(t); b.renders != 4 {
		t.Error("that it is gone is not taken into account at once")
	}
}

// A place that nobody gives back would be lost permanently: ten of them, and no new chart is rolled out any more.
func TestAResourceMadeAgainHoldsNoPlaceOfTheOneBefore(t *testing.T) {
	b := newBench(t, "nginx")
	b.installed(t)
	b.reconcile(t)
	if !b.Rollouts.Begin(webName) {
		t.Fatal("there is no place")
	}
	require.NoError(t, b.client.Delete(t.Context(), b.web(t)))
	again := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "second-uid", Generation: 1}, Spec: v1.AppServiceSpec{Image: "refused"}}
	require.NoError(t, b.client.Create(t.Context(), again))
	b.reconcile(t)
	if !b.Rollouts.Begin(types.NamespacedName{Namespace: "demo", Name: "other"}) {
		t.Error("the place is still taken")
	}
}

// A resource may be created again while the one before is reconciled: the cache still shows that one.
func TestAStatusNeverFallsOnAnotherResourceOfTheName(t *testing.T) {
	b := newBench(t, "refused")
	first := b.web(t)
	require.NoError(t, b.client.Delete(t.Context(), first.DeepCopy()))
	second := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "second-uid", Generation: 1}, Spec: v1.AppServiceSpec{Image: "nginx"}}
	require.NoError(t, b.client.Create(t.Context(), second))
	b.Client = showing(b.client, first)
	b.reconcile(t)
	if b.statuses != 1 {
		t.Errorf("got %d status writes, want one that is refused", b.statuses)
	}
	if conditions := b.web(t).Status.Conditions; len(conditions) != 0 {
		t.Errorf("the second has the status of the first: %v", conditions)
	}
	if events := b.events(); len(events) != 0 {
		t.Errorf("got events %q about a resource that is gone", events)
	}
}

func TestNothingIsCreatedForAResourceThatIsGone(t *testing.T) {
	lost := &unstructured.Unstructured{}
	lost.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	lost.SetNamespace("demo")
	lost.SetName("web")
	missing := &plan.Plan{Create: []*unstructured.Unstructured{lost}}
	type get = func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error
	there := func(change func(*v1.AppService)) get {
		return func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			live := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "web-uid"}}
			change(live)
			into.(*metav1.PartialObjectMetadata).ObjectMeta = live.ObjectMeta
			return nil
		}
	}
	fails := func(err error) get {
		return func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		}
	}
	now := metav1.NewTime(start)
	isGone := fails(apierrors.NewNotFound(schema.GroupResource{Resource: "appservices"}, "web"))
	cases := map[string]struct {
		state    plan.State
		reported bool
		plan     *plan.Plan
		get      get
		asked    int
		stale    bool
		want     string
	}{
		"it is there":           {plan.Drifted, true, missing, there(func(*v1.AppService) {}), 1, false, ""},
		"it is gone":            {plan.Drifted, true, missing, isGone, 1, true, "caches are behind: the resource is gone"},
		"all of it is gone":     {plan.Absent, true, missing, isGone, 1, true, "caches are behind: the resource is gone"},
		"it is new":             {plan.Absent, false, missing, isGone, 0, false, ""},
		"another has its name":  {plan.Drifted, true, missing, there(func(a *v1.AppService) { a.UID = "second-uid" }), 1, true, "caches are behind: the resource is gone"},
		"it is being deleted":   {plan.Drifted, true, missing, there(func(a *v1.AppService) { a.DeletionTimestamp = &now }), 1, true, "caches are behind: the resource is gone"},
		"nobody knows":          {plan.Drifted, true, missing, fails(errors.New("not now")), 1, false, "cannot read AppService: not now"},
		"nothing is to be made": {plan.Drifted, true, &plan.Plan{}, fails(errors.New("not now")), 0, false, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "nginx")
			asked := 0
			b.Live = interceptor.NewClient(b.client.(client.WithWatch), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
					if into.GetObjectKind().GroupVersionKind() == appService { // the names of objects are asked about, too
						asked++
					}
					return test.get(ctx, c, key, into, options...)
				},
			})
			b.Actor = release.NewActor(&livestate.Writer{Client: b.client, Observer: b.Observer}, b.Live, 1)
			scope := &scope{resource: app("web-uid"), previous: &v1.AppServiceStatus{}, memory: &remembered{}}
			if test.reported {
				scope.previous.Conditions = []metav1.Condition{{Type: v1.ConditionReady}}
			}
			task := release.Task{Owner: scope.resource, Desired: &render.Result{}, Snapshot: &livestate.Snapshot{}, Plan: test.plan, State: test.state}
			_, _, err := b.write(t.Context(), scope, rendering{rendered: &rendered{}}, task)
			if test.want == "" {
				err = nil // what comes after the question is not looked at here
			}
			if err == nil && test.want != "" || err != nil && err.Error() != test.want || isStale(err) != test.stale || (asked > 0) != (test.asked > 0) {
				t.Errorf("got %v after %d questions, want %q after %d", err, asked, test.want, test.asked)
			}
		})
	}
}

// showing is a client whose reads show a resource as it once was.
func showing(c client.Client, before *v1.AppService) client.Client {
	return interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(before)
			into.(*unstructured.Unstructured).Object = content
			into.GetObjectKind().SetGroupVersionKind(appService)
			return err
		},
	})
}

func TestAStatusThatCannotBeWrittenIsAnErrorAndTellsNothing(t *testing.T) {
	b := newBench(t, "refused")
	b.refuse = errors.New("not now")
	if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: webName}); !errors.Is(err, b.refuse) {
		t.Errorf("got %v", err)
	}
	if events := b.events(); len(events) != 0 {
		t.Errorf("got events %q before the status was written", events)
	}
	b.refuse = nil
	b.reconcile(t)
	if events := b.events(); len(events) != 1 {
		t.Errorf("got events %q, want one", events)
	}
}

// The cache may show an older status than the one that was written last.
func TestAStatusIsComparedWithTheOneThatWasWrittenLast(t *testing.T) {
	b := newBench(t, "refused")
	before := b.web(t)
	b.reconcile(t)
	written := b.statuses
	b.Client = showing(b.client, before)
	b.clock.SetTime(b.clock.Now().Add(time.Minute))
	b.reconcile(t)
	if b.statuses != written {
		t.Error("the same status was written again")
	}
	if events := b.events(); len(events) != 1 {
		t.Errorf("got events %q, want one", events)
	}
}

func TestNotesOfEventsAreCut(t *testing.T) {
	cases := map[string]struct{ note, want string }{
		"short":                {"create ConfigMap web", "create ConfigMap web"},
		"256 characters":       {strings.Repeat("字", 256), strings.Repeat("字", 256)},
		"more than characters": {strings.Repeat("字", 257), strings.Repeat("字", 102) + " … " + strings.Repeat("字", 151)},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "nginx")
			b.event(&scope{resource: app("a")}, "Normal", "Why", test.note)
			if got, want := b.events(), []string{fmt.Sprintf("Normal Why %s", test.want)}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func app(uid string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "app.example.com/v1", "kind": "AppService"}}
	o.SetNamespace("demo")
	o.SetName("web")
	o.SetUID(types.UID(uid))
	o.SetResourceVersion("1")
	o.SetGeneration(1)
	return o
}

// A status after a user's change is bookkeeping; a change that failed is tried again as a change.
func TestThePriorityOfWhatFollowsAChange(t *testing.T) {
	cases := map[string]struct {
		refused bool
		want    *int
	}{
		"a change that is done": {false, ptr.To(watch.Bookkeeping)},
		"a change that failed":  {true, nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, 1)
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.Image = "nginx:2" })
			if test.refused {
				w.load(rendererOf("one", `{{ fail "no" }}`))
			}
			result, err := w.operator.Reconcile(t.Context(), reconcile.Request{NamespacedName: w.queue[0]})
			require.NoError(t, err)
			require.NotZero(t, result.RequeueAfter)
			require.Equal(t, test.want, result.Priority)
		})
	}
}

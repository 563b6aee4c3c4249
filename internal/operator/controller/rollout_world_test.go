package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/internal/operator/rollout"
	"github.com/example/appservice-operator/internal/operator/status"
)

// world is an API server with a fleet of resources, a Deployment controller, and one life of the operator after the other.
type world struct {
	client.WithWatch
	operator *Reconciler
	t        *testing.T
	clock    *clocktesting.FakePassiveClock
	recorder *record.FakeRecorder
	charts   *render.Current
	config   *corev1.ConfigMap // the defaults of the namespace
	facts    *factSource
	queue    []types.NamespacedName
	queued   map[types.NamespacedName]bool
	progress rollout.Progress
	// sick reports whether the pods of a template never become ready.
	sick func(appsv1.DeploymentSpec) bool
	// stuck is sick, by the name of the Deployment; none reports whether no pods are available at all.
	stuck func(name string) bool
	none  func(appsv1.DeploymentSpec) bool
	uids  int
	// atATime is how many rollouts the Deployment controller finishes before others do something.
	atATime int
	// writes that the operator may make before it dies.
	writes int
}

// forever is more steps than any test takes.
const forever = 1 << 30

var errDied = errors.New("the operator died")

// write is one of the operator's writes. A dead operator makes none.
func (w *world) write() error {
	if w.writes--; w.writes < 0 {
		return errDied
	}
	return nil
}

// newWorld is one with many resources, as they are after the first chart came.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOf(t, many)
}

// The kinds that a world has, and their resources: making them takes longer than most tests do.
var (
	scheme = sync.OnceValue(func() *runtime.Scheme {
		scheme := runtime.NewScheme()
		utilruntime.Must(clientgoscheme.AddToScheme(scheme))
		utilruntime.Must(v1.AddToScheme(scheme))
		return scheme
	})
	mapper = sync.OnceValue(func() meta.RESTMapper { return testrestmapper.TestOnlyStaticRESTMapper(scheme()) })
)

// newWorldOf is a world with as many resources.
func newWorldOf(t *testing.T, count int) *world {
	t.Helper()
	log.SetLogger(logr.Discard())
	w := &world{t: t, clock: clocktesting.NewFakePassiveClock(start), recorder: record.NewFakeRecorder(10_000), sick: func(appsv1.DeploymentSpec) bool { return false }, atATime: forever, facts: &factSource{}}
	inner := fake.NewClientBuilder().WithScheme(scheme()).WithRESTMapper(mapper()).WithStatusSubresource(&v1.AppService{}, &appsv1.Deployment{}).Build()
	w.WithWatch = interceptor.NewClient(inner, interceptor.Funcs{Patch: w.patch, SubResourcePatch: w.patchStatus})
	w.charts = render.NewCurrent(rendererOf("one", ""))
	for i := range count {
		app := &v1.AppService{ObjectMeta: metav1.ObjectMeta{
			Namespace: "demo", Name: nameOf(i), UID: types.UID("uid-of-" + nameOf(i)), Generation: 1,
		}, Spec: v1.AppServiceSpec{Image: "nginx"}}
		require.NoError(t, w.Create(t.Context(), app))
	}
	w.restart()
	w.run()
	if got := w.count(ready); got != count {
		t.Fatalf("%d of %d are ready with the first chart: %+v", got, count, w.app(0).Status.Conditions)
	}
	w.events()
	return w
}

func nameOf(i int) string { return fmt.Sprintf("web-%03d", i) }

// deploymentTemplate has the version of the chart in its pods.
const deploymentTemplate = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}, annotations: {app.example.com/reload-on-change: "true"}}
spec:
  replicas: 1
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: app, image: {{ .Values.image }}, env: [{name: VERSION, value: VERSION}], envFrom: [{secretRef: {name: shared}}]}]}
`

// rendererOf renders with a chart of a version: more is put before its template.
func rendererOf(version, more string) *render.Renderer {
	text := more + strings.ReplaceAll(deploymentTemplate, "value: VERSION", "value: "+version)
	file := &chart.File{Name: "templates/deployment.yaml", Data: []byte(text)}
	tiny := &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: "v2", Name: "tiny", Version: "0.1.0"},
		Templates: []*chart.File{file}, Raw: []*chart.File{file},
	}
	platform := render.Platform{Kind: appService, Namespaces: []string{"priorityClassName"}}
	return &render.Renderer{Chart: tiny, Translator: values.For(appService, tiny, nil), Platform: platform, Hooks: postrender.Default()}
}

// says sets what the namespace says, nil for nothing: all are looked at again.
func (w *world) says(text string) {
	w.config = nil
	if text != "" {
		w.config = &corev1.ConfigMap{Data: map[string]string{"appservice.yaml": text}}
	}
	w.all()
}

// Of implements DefaultsSource.
func (w *world) Of(context.Context, string) (defaults.Text, error) {
	if w.config == nil {
		return defaults.Text{}, nil
	}
	return defaults.Of(w.config, appService.Kind), nil
}

// load puts another chart to use, as a reload does: all are looked at again.
func (w *world) load(renderer *render.Renderer) {
	w.charts.Set(renderer)
	w.all()
}

func (w *world) all() {
	list := &v1.AppServiceList{}
	if err := w.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		w.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
}

// restart is the end of one life of the operator and the beginning of the next.
func (w *world) restart() {
	observer := livestate.New(nil, w, w.WithWatch)
	for _, kind := range []schema.GroupVersionKind{appsv1.SchemeGroupVersion.WithKind("Deployment"), kube.SecretKind} {
		observer.Include(kind, false, func() error { return nil })
	}
	w.operator = &Reconciler{
		Kind: appService, Charts: w.charts, Capabilities: known{}, Observer: observer,
		Actor:  release.NewActor(&livestate.Writer{Client: w.WithWatch, Secrets: w, Observer: observer}, w.WithWatch, 1),
		Status: &status.Writer{Client: w.WithWatch, Clock: w.clock}, Client: w.WithWatch, Live: w.WithWatch,
		Tracker: &syncedSource{}, References: w.facts, Hosts: hosts.New(nil, nil, nil, nil), Recorder: w.recorder,
		Metrics: metrics.New().Kind(appService.Kind, &chart.Metadata{}), Clock: w.clock, Defaults: w,
	}
	w.operator.Rollouts = &rollout.Rollouts{
		Limit: 10, MaxFailed: 3, Deadline: rolloutDeadline, Chart: w.operator.Chart, Names: w.names,
		Show: func(p rollout.Progress) { w.progress = p }, Clock: w.clock, Log: logr.Discard(),
	}
	if err := w.operator.Rollouts.Wake().Start(w.t.Context(), &requests{world: w}); err != nil {
		w.t.Fatal(err)
	}
	w.writes = forever
	w.queue, w.queued = nil, map[types.NamespacedName]bool{}
	w.all()
}

func (w *world) names() (names []types.NamespacedName, err error) {
	list := &v1.AppServiceList{}
	err = w.List(w.t.Context(), list)
	for i := range list.Items {
		names = append(names, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return names, err
}

// requests is the queue of the operator.
type requests struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	*world
}

// Add implements workqueue.TypedInterface.
func (r *requests) Add(request reconcile.Request) { r.world.Add(request) }

// Add asks for a reconcile.
func (w *world) Add(request reconcile.Request) {
	if name := request.NamespacedName; !w.queued[name] {
		w.queue, w.queued[name] = append(w.queue, name), true
	}
}

// run lets the operator and the Deployment controller work until there is nothing to do for a while, or the operator dies.
func (w *world) run() {
	for {
		if len(w.queue) == 0 && !w.deploymentController() {
			return
		}
		if len(w.queue) == 0 {
			continue
		}
		next := w.queue[0]
		w.queue = w.queue[1:]
		delete(w.queued, next)
		w.clock.SetTime(w.clock.Now().Add(time.Second))
		result, err := w.operator.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: next})
		if w.writes < 0 {
			return
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if result.RequeueAfter > 0 && result.RequeueAfter < 15*time.Second {
			w.Add(reconcile.Request{NamespacedName: next})
		}
	}
}

// rolloutDeadline is much longer than what is not stuck takes here: each reconcile takes a second.
const rolloutDeadline = time.Hour

// pass lets a few deadlines pass.
func (w *world) pass() {
	w.t.Helper()
	for end := w.clock.Now().Add(5 * rolloutDeadline); w.clock.Now().Before(end); {
		w.clock.SetTime(w.clock.Now().Add(rolloutDeadline / 3))
		w.all()
		w.run()
	}
}

// deploymentController brings the Deployments that changed to what becomes of them, and reports whether there were any.
func (w *world) deploymentController() bool {
	done := 0
	list := &appsv1.DeploymentList{}
	if err := w.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		deployment := &list.Items[i]
		if deployment.Status.ObservedGeneration == deployment.Generation {
			continue
		}
		if done++; done > w.atATime {
			return true
		}
		available, progressing := corev1.ConditionTrue, corev1.ConditionTrue
		deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
		reason := "NewReplicaSetAvailable"
		if w.none != nil && w.none(deployment.Spec) {
			available, deployment.Status.AvailableReplicas = corev1.ConditionFalse, 0
		}
		if w.sick(deployment.Spec) || w.stuck != nil && w.stuck(deployment.Name) {
			progressing, reason = corev1.ConditionFalse, "ProgressDeadlineExceeded"
			deployment.Status.UpdatedReplicas, deployment.Status.Replicas, deployment.Status.UnavailableReplicas = 1, 2, 1
		}
		deployment.Status.Conditions = []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: available, Reason: "MinimumReplicasAvailable"},
			{Type: appsv1.DeploymentProgressing, Status: progressing, Reason: reason},
		}
		if err := w.Status().Update(w.t.Context(), deployment); err != nil {
			w.t.Fatal(err)
		}
		w.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(deployment)})
	}
	return done > 0
}

// app returns a resource.
func (w *world) app(i int) *v1.AppService {
	w.t.Helper()
	app := &v1.AppService{}
	if err := w.Get(w.t.Context(), types.NamespacedName{Namespace: "demo", Name: nameOf(i)}, app); err != nil {
		w.t.Fatal(err)
	}
	return app
}

// edit changes the spec of a resource, as its user does.
func (w *world) edit(i int, edit func(*v1.AppServiceSpec)) {
	w.t.Helper()
	app := w.app(i)
	edit(&app.Spec)
	app.Generation++
	if err := w.Update(w.t.Context(), app); err != nil {
		w.t.Fatal(err)
	}
	w.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
}

func ready(app *v1.AppService) bool {
	return meta.IsStatusConditionTrue(app.Status.Conditions, v1.ConditionReady)
}

func held(app *v1.AppService) bool {
	return slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool { return p.Reason == v1.ReasonRolloutHeldBack })
}

// count counts the resources for which a condition holds.
func (w *world) count(holds func(*v1.AppService) bool) (count int) {
	w.t.Helper()
	list := &v1.AppServiceList{}
	if err := w.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		if holds(&list.Items[i]) {
			count++
		}
	}
	return count
}

// versions counts the Deployments by the version of the chart that their pods are of.
func (w *world) versions() map[string]int {
	w.t.Helper()
	list := &appsv1.DeploymentList{}
	if err := w.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	versions := map[string]int{}
	for i := range list.Items {
		versions[list.Items[i].Spec.Template.Spec.Containers[0].Env[0].Value]++
	}
	return versions
}

// warnings returns the events of the type Warning since the last look.
func (w *world) warnings() []string {
	return slices.DeleteFunc(w.events(), func(event string) bool { return !strings.HasPrefix(event, "Warning ") })
}

// events returns the events since the last look.
func (w *world) events() (list []string) {
	for len(w.recorder.Events) > 0 {
		list = append(list, <-w.recorder.Events)
	}
	return list
}

// AddIndex implements livestate.Index.
func (w *world) AddIndex(schema.GroupVersionKind, string, func(client.Object) []string) error {
	return nil
}

// mostRevisions is how many releases a resource has here at most.
const mostRevisions = 9

// ByIndex implements livestate.Index: what a resource has here is named after it.
func (w *world) ByIndex(kind schema.GroupVersionKind, _, owner string) (found []client.Object, err error) {
	_, name, _ := strings.Cut(owner, "/uid-of-")
	names := []string{name}
	if kind == kube.SecretKind {
		names = nil
		for revision := range mostRevisions {
			names = append(names, fmt.Sprintf("%s%s.v%d", livestate.RecordPrefix, name, revision+1))
		}
	}
	for _, name := range names {
		object := kube.Representation(kind)
		switch err := w.Get(context.Background(), types.NamespacedName{Namespace: "demo", Name: name}, object); {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		default:
			object.GetObjectKind().SetGroupVersionKind(kind)
			object.SetManagedFields(nil)
			found = append(found, object)
		}
	}
	return found, nil
}

// patch does what an API server does to a server-side apply, and the fake client does not: it gives UIDs, counts generations, and heeds
// preconditions.
func (w *world) patch(ctx context.Context, c client.WithWatch, answer client.Object, patch client.Patch, options ...client.PatchOption) error {
	dryRun := len((&client.PatchOptions{}).ApplyOptions(options).DryRun) > 0
	if !dryRun {
		if err := w.write(); err != nil {
			return err
		}
	}
	if patch.Type() != types.ApplyPatchType {
		return c.Patch(ctx, answer, patch, options...)
	}
	data, err := patch.Data(answer)
	if err != nil {
		return err
	}
	wanted := &unstructured.Unstructured{}
	if err := wanted.UnmarshalJSON(data); err != nil {
		return err
	}
	opts := (&client.PatchOptions{}).ApplyOptions(options)
	before := &unstructured.Unstructured{}
	before.SetGroupVersionKind(wanted.GroupVersionKind())
	err = c.Get(ctx, client.ObjectKeyFromObject(wanted), before)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err == nil && wanted.GetResourceVersion() != before.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, wanted.GetName(), fmt.Errorf("it is another version"))
	}
	wanted.SetResourceVersion("")
	if dryRun {
		answer.(*unstructured.Unstructured).Object = wanted.Object
		return nil
	}
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner(opts.FieldManager), client.ForceOwnership); err != nil {
		return err
	}
	after := &unstructured.Unstructured{}
	after.SetGroupVersionKind(wanted.GroupVersionKind())
	if err := c.Get(ctx, client.ObjectKeyFromObject(wanted), after); err != nil {
		return err
	}
	if after.GetUID() == "" {
		w.uids++
		after.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
	}
	x, _ := json.Marshal(before.Object["spec"])
	y, _ := json.Marshal(after.Object["spec"])
	if string(x) != string(y) {
		after.SetGeneration(before.GetGeneration() + 1)
	}
	if err := c.Update(ctx, after); err != nil {
		return err
	}
	if data, err = json.Marshal(after); err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}

func (w *world) patchStatus(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if err := w.write(); err != nil {
		return err
	}
	return c.SubResource(name).Patch(ctx, object, patch, options...)
}

// Secrets is the client of release records.
func (w *world) Secrets(namespace string) typedcorev1.SecretInterface {
	return &secrets{world: w, namespace: namespace}
}

type secrets struct {
	typedcorev1.SecretInterface
	world     *world
	namespace string
}

// Create implements SecretInterface.
func (s *secrets) Create(ctx context.Context, secret *corev1.Secret, _ metav1.CreateOptions) (*corev1.Secret, error) {
	if err := s.world.write(); err != nil {
		return nil, err
	}
	s.world.uids++
	secret.UID = types.UID(fmt.Sprintf("uid-%d", s.world.uids))
	return secret, s.world.Create(ctx, secret)
}

// Get implements SecretInterface.
func (s *secrets) Get(ctx context.Context, name string, _ metav1.GetOptions) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	return secret, s.world.Get(ctx, types.NamespacedName{Namespace: s.namespace, Name: name}, secret)
}

// Update implements SecretInterface.
func (s *secrets) Update(ctx context.Context, secret *corev1.Secret, _ metav1.UpdateOptions) (*corev1.Secret, error) {
	if err := s.world.write(); err != nil {
		return nil, err
	}
	return secret, s.world.Update(ctx, secret)
}

// Delete implements SecretInterface.
func (s *secrets) Delete(ctx context.Context, name string, _ metav1.DeleteOptions) error {
	if err := s.world.write(); err != nil {
		return err
	}
	return s.world.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}})
}

//go:build cluster

package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// named is an object of an AppService, with its name.
func named[T any](app *v1.AppService, object *T) *T {
	meta := any(object).(client.Object)
	meta.SetNamespace(app.Namespace)
	meta.SetName(app.Name)
	return object
}

// returns waits until a deleted object exists again, with another UID.
func returns(t *testing.T, object client.Object, before types.UID) {
	t.Helper()
	cluster.Becomes(t, fmt.Sprintf("%T %s returns", object, object.GetName()), object, func() error {
		if object.GetUID() == before {
			return errors.New("it is still the one that was deleted")
		}
		return nil
	})
}

// vanish deletes an object of an AppService and returns the UID that it had.
func vanish(t *testing.T, object client.Object) types.UID {
	t.Helper()
	cluster.Refresh(t, object)
	uid := object.GetUID()
	cluster.Delete(t, object)
	return uid
}

// A running application is never taken for an install that may be undone.
func TestALostRecordAndAForeignNameCostNothingThatRuns(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](1)
	first := cluster.Manager(t, namespace)
	cluster.CreateReady(t, app)
	first.Stop(t)

	deployment, service := named(app, &appsv1.Deployment{}), named(app, &corev1.Service{})
	for _, object := range []client.Object{deployment, service} {
		cluster.Refresh(t, object)
	}
	require.NoError(t, cluster.Client.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}))
	foreign := named(app, &corev1.ServiceAccount{})
	cluster.Create(t, foreign)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.ServiceAccount = &v1.ServiceAccount{} })
	second := cluster.Manager(t, namespace)
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	for _, request := range second.Requests.WritesSince(0) {
		if request.Verb == "delete" {
			t.Errorf("something was deleted: %s", request)
		}
	}
	for what, object := range map[string]client.Object{"Deployment": deployment, "Service": service} {
		uid := object.GetUID()
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil || object.GetUID() != uid {
			t.Errorf("the %s is not the one that ran: %v", what, err)
		}
	}
	cluster.Delete(t, foreign)
	cluster.Ready(t, app)
}

func TestObjectsAreRepairedThoughTheReleaseCannotBeRecorded(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	quota := noMoreSecrets(t, namespace)
	cluster.Manager(t, namespace)
	app := harness.Seed(namespace, "web")
	cluster.Create(t, app)
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonInstallFailed)
	service := named(app, &corev1.Service{})
	returns(t, service, vanish(t, service))
	cluster.Delete(t, quota)
	cluster.Ready(t, app)
}

// While a spec is refused, objects of the previous release are repaired as always.
func TestTheLastGoodReleaseIsKeptAlive(t *testing.T) {
	t.Parallel()
	refusals := map[string]struct {
		reason string
		change func(*v1.AppServiceSpec)
	}{
		"something is missing": {v1.ReasonDependencyMissing, func(s *v1.AppServiceSpec) { s.EnvFrom = fromConfigMap("missing", nil) }},
		"pods below Baseline": {v1.ReasonPodSecurityViolation, func(s *v1.AppServiceSpec) {
			s.Sidecars = []corev1.Container{{Name: "agent", Image: "agent:1", Ports: []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}}}
		}},
	}
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, first := cluster.ManagedNamespace(t)
			app := harness.Seed(namespace, "web")
			cluster.CreateReady(t, app)
			cluster.Change(t, app, func(app *v1.AppService) { refusal.change(&app.Spec) })
			cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, refusal.reason)
			service, deployment := named(app, &corev1.Service{}), named(app, &appsv1.Deployment{})
			returns(t, service, vanish(t, service))
			returns(t, deployment, vanish(t, deployment))
			if len(deployment.Spec.Template.Spec.Containers) != 1 || len(deployment.Spec.Template.Spec.Containers[0].EnvFrom) != 0 {
				t.Errorf("it is not as in the release before: %+v", deployment.Spec.Template.Spec)
			}
			first.Stop(t)
			gone := vanish(t, service)
			cluster.Manager(t, namespace)
			returns(t, service, gone)
			cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, refusal.reason)
		})
	}
}

// A release whose record a quota refuses was applied all the same. If the next spec is refused, too, nothing of the
// recorded release comes back that the one after it does not have.
func TestNothingOfARecordedReleaseReturnsOnceAnotherWasApplied(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ingress = &v1.Ingress{Hosts: []v1.IngressHost{{Host: namespace + ".example.com"}}}
	cluster.CreateReady(t, app)
	noMoreSecrets(t, namespace)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image, app.Spec.Ingress = "nginx:1.27", nil })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonUpgradeFailed)
	ingress := named(app, &networkingv1.Ingress{})
	harness.Eventually(t, "the Ingress is deleted", func() error { return gone(t, namespace, "web", ingress) })
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.EnvFrom = fromConfigMap("missing", nil) })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDependencyMissing)
	service := named(app, &corev1.Service{})
	cluster.Patch(t, service, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"me"}}}`)))
	cluster.Becomes(t, "the Service, which both releases have, is as recorded", service, func() error {
		return want("label", service.Labels["app.kubernetes.io/managed-by"], "Helm")
	})
	manager.Rest(t)
	if err := gone(t, namespace, "web", ingress); err != nil {
		t.Error(err)
	}
	if image := deployment(t, app).Spec.Template.Spec.Containers[0].Image; image != "nginx:1.27" {
		t.Errorf("the image is %s, want that of the release that was applied last", image)
	}
}

// A release that only deletes leaves only its record as a trace, which is therefore written first.
func TestAReleaseThatOnlyDeletesIsRecordedFirst(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ingress = &v1.Ingress{Hosts: []v1.IngressHost{{Host: namespace + ".example.com"}}}
	cluster.CreateReady(t, app)
	mark := manager.Requests.Mark()
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Ingress = nil })
	cluster.Ready(t, app)
	var writes []string
	for _, request := range manager.Requests.WritesSince(mark) {
		if target := request.Target(); target.Subresource == "" && target.Resource != "events" {
			writes = append(writes, request.Verb+" "+target.Resource)
		}
	}
	if len(writes) < 2 || !slices.Equal(writes[:2], []string{"create secrets", "delete ingresses"}) {
		t.Errorf("got the writes %q, want the record and then the deletion", writes)
	}
}

// noMoreSecrets lets a quota refuse further Secrets.
func noMoreSecrets(t *testing.T, namespace string) *corev1.ResourceQuota {
	t.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "no-secrets"}}
	quota.Spec.Hard = corev1.ResourceList{"secrets": resource.MustParse("0")}
	cluster.Create(t, quota)
	cluster.Becomes(t, "the quota counts", quota, func() error {
		if len(quota.Status.Hard) == 0 {
			return errors.New("it has no status yet")
		}
		return nil
	})
	return quota
}

// A pod template equals the rendered one: kubectl rollout undo restores what an upgrade removed, which must not stay
// beside the new image.
func TestAPodTemplateBelongsToTheOperatorAsAWhole(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Envs = []corev1.EnvVar{{Name: "OLD", Value: "1"}}
	app.Spec.Sidecars = []corev1.Container{{Name: "old-agent", Image: "agent:1"}}
	cluster.CreateReady(t, app)
	deployment := named(app, &appsv1.Deployment{})
	cluster.Refresh(t, deployment)
	before := deployment.Spec.Template
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Envs, app.Spec.Sidecars, app.Spec.Image = nil, nil, "nginx:1.27"
	})
	cluster.Ready(t, app)
	cluster.Refresh(t, deployment)
	before.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now", "example.com/mine": "yes"}
	cluster.Edit(t, deployment, func() { deployment.Spec.Template = before }, client.FieldOwner("kubectl-rollout"))
	cluster.Becomes(t, "the template is the rendered one again", deployment, func() error {
		template := deployment.Spec.Template
		containers := template.Spec.Containers
		switch {
		case len(containers) != 1 || len(template.Spec.InitContainers) != 0:
			return fmt.Errorf("it has %d containers and %d more", len(containers), len(template.Spec.InitContainers))
		case containers[0].Image != "nginx:1.27":
			return fmt.Errorf("it has the image %s", containers[0].Image)
		case len(containers[0].Env) != 1 || containers[0].Env[0].Name != "PORT":
			return fmt.Errorf("it has the variables %v", containers[0].Env)
		case template.Annotations["example.com/mine"] != "":
			return fmt.Errorf("it has the annotations %v", template.Annotations)
		case template.Annotations["kubectl.kubernetes.io/restartedAt"] != "now":
			t.Errorf("a restart by kubectl was undone: %v", template.Annotations)
		}
		return nil
	})
	cluster.Ready(t, app)
	manager.Rest(t)
	const way = "to go back to an earlier release, use kubectl appservice undo web"
	if repairs := repairsOf(t, namespace); len(repairs) != 1 || !strings.Contains(repairs[0], "apply Deployment web") || !strings.Contains(repairs[0], way) {
		t.Errorf("got the repairs %q, want one of the Deployment, with the way to go back", repairs)
	}
}

// A controller that an annotation of the workload addresses, such as Wave, restarts pods by an annotation of its own.
func TestAControllerThatAWorkloadAddressesMayAnnotateItsPods(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.WorkloadAnnotations = map[string]v1.Annotation{"wave.pusher.com/update-on-config-change": "true"}
	cluster.CreateReady(t, app)
	live := named(app, &appsv1.Deployment{})
	hash := func(value string) {
		cluster.Refresh(t, live)
		patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"wave.pusher.com/config-hash":%q}}}}}`, value)
		cluster.Patch(t, live, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("wave"))
	}
	has := func(image, value string) {
		t.Helper()
		cluster.Becomes(t, "its pods have "+image+" and "+value, live, func() error {
			pods := live.Spec.Template
			return want("image and annotation", pods.Spec.Containers[0].Image+" "+pods.Annotations["wave.pusher.com/config-hash"], image+" "+value)
		})
	}
	image := app.Spec.Image
	hash("one")
	cluster.Delete(t, service(app))
	eventually(t, app, v1.ReasonDriftCorrected, "create Service web") // the operator has looked at the Deployment since
	has(image, "one")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.28" })
	has("nginx:1.28", "one")
	hash("two")
	cluster.Ready(t, app)
	has("nginx:1.28", "two")
	if repairs := repairsOf(t, namespace); len(repairs) != 1 {
		t.Errorf("got the repairs %q, want that of the Service", repairs)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.WorkloadAnnotations = nil })
	has("nginx:1.28", "")
	cluster.Ready(t, app)
	manager.Rest(t)
}

func TestAStatusThatSomebodyChangesIsPutRight(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	manager.Rest(t)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Failed","readyReplicas":7}}`))
	require.NoError(t, cluster.Client.Status().Patch(t.Context(), app, patch))
	cluster.Becomes(t, "the status says what is", app, func() error {
		if app.Status.Phase != v1.PhaseRunning || app.Status.ReadyReplicas != 2 {
			return fmt.Errorf("it says %s and %d ready", app.Status.Phase, app.Status.ReadyReplicas)
		}
		return nil
	})
}

// A record is a Secret, and any user who may write Secrets can make one that decompresses to a thousand times its size.
func TestARecordThatUnpacksToMuchIsNotUnpacked(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	list := &corev1.SecretList{}
	harness.Eventually(t, "the release is recorded", func() error {
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
			return err
		}
		return want("records", fmt.Sprint(len(list.Items)), "1")
	})
	record := &list.Items[0]
	huge := bomb(t, 200<<20)
	cluster.Edit(t, record, func() { record.Data["release"] = huge })
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.EnvFrom = fromConfigMap("missing", nil) })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDependencyMissing)
	vanish(t, named(app, &corev1.Service{}))
	harness.Eventually(t, "the status says why nothing is repaired", func() error {
		condition, err := cluster.ConditionNow(t.Context(), app, v1.ConditionReady)
		if err != nil {
			return err
		}
		if condition.Reason != v1.ReasonDependencyMissing || !strings.Contains(condition.Message, "damaged") {
			return fmt.Errorf("it is %s: %s", condition.Reason, condition.Message)
		}
		return nil
	})
	cluster.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "missing"}})
	cluster.Ready(t, app)
}

// bomb is the payload of a record that decompresses to so many bytes.
func bomb(t *testing.T, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	letters := base64.NewEncoder(base64.StdEncoding, &out)
	packed := gzip.NewWriter(letters)
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	for range size >> 20 {
		if _, err := packed.Write(spaces); err != nil {
			t.Fatal(err)
		}
	}
	require.NoError(t, errors.Join(packed.Close(), letters.Close()))
	return out.Bytes()
}

// A write that was decided on an older view is refused by the API server.
func TestAWriteDecidedOnAnOlderViewIsRefused(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	sent := &lastBody{path: "/deployments/web"}
	cluster.Manager(t, namespace, func(_ *operator.Options, requests *harness.Requests) { requests.Below = sent.wrap })
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)
	late := sent.get()
	if !bytes.Contains(late, []byte("nginx:1.27")) {
		t.Fatalf("it is not the write of the image: %s", late)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.28" })
	cluster.Ready(t, app)
	held := named(app, &appsv1.Deployment{})
	err := cluster.Client.Patch(t.Context(), held, client.RawPatch(types.ApplyPatchType, late), client.FieldOwner("appservice-operator"), client.ForceOwnership)
	if !apierrors.IsConflict(err) {
		t.Errorf("the write of before was taken: %v", err)
	}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(held), held); err != nil || held.Spec.Template.Spec.Containers[0].Image != "nginx:1.28" {
		t.Errorf("the image is not the newer one: %v", err)
	}
}

// lastBody returns the body of the last patch of an object.
type lastBody struct {
	path string

	mu   sync.Mutex
	body []byte
}

func (b *lastBody) wrap(next http.RoundTripper) http.RoundTripper {
	return tripper(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodPatch && strings.HasSuffix(request.URL.Path, b.path) && request.GetBody != nil {
			if reader, err := request.GetBody(); err == nil {
				if data, err := io.ReadAll(reader); err == nil {
					b.mu.Lock()
					b.body = data
					b.mu.Unlock()
				}
			}
		}
		return next.RoundTrip(request)
	})
}

func (b *lastBody) get() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.body
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

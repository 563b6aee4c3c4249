//go:build cluster

package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// helmStorage is where Helm looks for the releases of a namespace.
func helmStorage(t *testing.T, namespace string) *storage.Storage {
	t.Helper()
	clients, err := kubernetes.NewForConfig(cluster.Config)
	require.NoError(t, err)
	return storage.Init(driver.NewSecrets(clients.CoreV1().Secrets(namespace)))
}

// keeping sets how many records the operator keeps.
func keeping(records int) func(*operator.Options, *harness.Requests) {
	return func(options *operator.Options, _ *harness.Requests) { options.HistoryMax = records }
}

// historyIs waits until Helm shows these releases, each as its revision and status.
func historyIs(t *testing.T, app *v1.AppService, want ...string) {
	t.Helper()
	releases := helmStorage(t, app.Namespace)
	harness.Eventually(t, fmt.Sprint("Helm shows ", want), func() error {
		list, err := releases.History(app.Name)
		if err != nil {
			return err
		}
		slices.SortFunc(list, func(a, b *helmrelease.Release) int { return a.Version - b.Version })
		var got []string
		for _, release := range list {
			got = append(got, fmt.Sprint(release.Version, " ", release.Info.Status))
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("it shows %v", got)
		}
		return nil
	})
}

// released makes a release of an image, and waits until it is ready.
func released(t *testing.T, app *v1.AppService, image string) {
	t.Helper()
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = image })
	cluster.Ready(t, app)
}

// Earlier releases can be inspected with Helm: status, values and manifest.
func TestFormerReleasesAreKept(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](0) // pods that are slow would be read for a diagnosis
	app.Spec.Image = "nginx:1"
	cluster.CreateReady(t, app)
	for i := 2; i <= 6; i++ {
		released(t, app, fmt.Sprint("nginx:", i))
	}
	historyIs(t, app, "2 superseded", "3 superseded", "4 superseded", "5 superseded", "6 deployed")
	upgrade := requests(t, manager, func() { released(t, app, "nginx:7") })
	if got := withoutStatus(upgrade); len(got) != 5 { // the object, its record, the one before read and marked, the oldest one's deletion
		t.Errorf("an upgrade of one object took %d requests besides status, want 5: %v", len(got), got)
	}
	t.Logf("upgrade of 1 object: %d requests: %s", len(upgrade), harness.Count(upgrade))
	if len(withoutStatus(upgrade[len(upgrade)-3:])) != 3 {
		t.Errorf("records of earlier releases are put in order before the status says that it is ready: %v", upgrade)
	}
	historyIs(t, app, "3 superseded", "4 superseded", "5 superseded", "6 superseded", "7 deployed")

	releases := helmStorage(t, namespace)
	former, err := releases.Get("web", 4) // helm get values and manifest --revision 4
	require.NoError(t, err)
	if former.Config["image"] != "nginx:4" || !strings.Contains(former.Manifest, `"nginx:4"`) {
		t.Errorf("Helm reads of release 4: values %v, manifest %s", former.Config, former.Manifest)
	}
	if current, err := releases.Deployed("web"); err != nil || current.Version != 7 {
		t.Errorf("Helm takes %v for deployed: %v", current, err)
	}
}

func TestOneRecordIsKeptWhereThatIsAskedFor(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t, keeping(1))
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](0)
	cluster.CreateReady(t, app)
	upgrade := requests(t, manager, func() { released(t, app, "nginx:2") })
	if got := withoutStatus(upgrade); len(got) != 3 {
		t.Errorf("an upgrade of one object took %d requests besides status, want 3: %v", len(got), got)
	}
	historyIs(t, app, "2 deployed")
}

// If fewer records must be kept, the others are deleted; nothing else is written for that, and nothing is reported.
func TestRecordsThatAreMoreThanAreKeptGo(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](0)
	cluster.CreateReady(t, app)
	for i := 2; i <= 5; i++ {
		released(t, app, fmt.Sprint("nginx:", i))
	}
	historyIs(t, app, "1 superseded", "2 superseded", "3 superseded", "4 superseded", "5 deployed")
	first.Stop(t)

	second := cluster.Manager(t, namespace, keeping(2))
	historyIs(t, app, "4 superseded", "5 deployed")
	second.Rest(t)
	for _, request := range second.Requests.WritesSince(0) {
		if request.Verb != "delete" || !strings.Contains(request.Path, "/secrets/sh.helm.release.v1.web.v") {
			t.Errorf("it wrote %s", request)
		}
	}
}

// An older record is never taken for the deployed one: the objects stay as they are, and get a new record.
func TestALostRecordIsNotReplacedByAnOlderOne(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Image = "nginx:1"
	cluster.CreateReady(t, app)
	for i := 2; i <= 3; i++ {
		released(t, app, fmt.Sprint("nginx:", i))
	}
	historyIs(t, app, "1 superseded", "2 superseded", "3 deployed")
	first.Stop(t)

	// While a spec is refused, the recorded release is kept alive: here, the objects have no record.
	record := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sh.helm.release.v1.web.v3"}}
	cluster.Delete(t, record)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.EnvFrom = fromConfigMap("missing", nil) })
	second := cluster.Manager(t, namespace)
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDependencyMissing)
	second.Rest(t)
	runs := func(image string) {
		t.Helper()
		deployment := &appsv1.Deployment{}
		get(t, app, deployment)
		if got := deployment.Spec.Template.Spec.Containers[0].Image; got != image {
			t.Errorf("the Deployment runs %s, not %s", got, image)
		}
	}
	runs("nginx:3")

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.EnvFrom = nil })
	cluster.Ready(t, app)
	runs("nginx:3")
	historyIs(t, app, "1 superseded", "2 superseded", "3 deployed")
}

// Whatever the state of the records of earlier releases, the next one is made.
func TestFormerRecordsStandInTheWayOfNothing(t *testing.T) {
	t.Parallel()
	harms := map[string]struct {
		harm func(record *corev1.Secret)
		want []string
	}{
		"damaged": {func(record *corev1.Secret) {
			record.Data = map[string][]byte{"release": []byte("nonsense")}
		}, []string{"2 deployed"}},
		"of an operator that kept one": {func(record *corev1.Secret) {
			delete(record.Data, "resource")
		}, []string{"1 superseded", "2 deployed"}},
		"immutable": {func(record *corev1.Secret) {
			record.Immutable = ptr.To(true)
		}, []string{"2 deployed"}},
	}
	for name, test := range harms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			app := harness.Seed(namespace, "web")
			app.Spec.Size = ptr.To[int32](0)
			first := cluster.Manager(t, namespace)
			cluster.CreateReady(t, app)
			first.Stop(t)
			record := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sh.helm.release.v1.web.v1"}}
			cluster.Edit(t, record, func() { test.harm(record) })
			second := cluster.Manager(t, namespace)
			released(t, app, "nginx:2")
			historyIs(t, app, test.want...)
			second.Rest(t)
		})
	}
}

// A record with a label that is missing or wrong is named, with the remedy, which helps.
func TestARecordWhoseLabelsDoNotSayWhichItIs(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]any{"without its revision": nil, "with another revision": "9"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, manager := cluster.ManagedNamespace(t)
			app := harness.Seed(namespace, "web")
			app.Spec.Size = ptr.To[int32](0)
			cluster.CreateReady(t, app)
			released(t, app, "nginx:2")
			record := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sh.helm.release.v1.web.v2"}}
			cluster.Refresh(t, record)
			labels, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{"version": version}}})
			require.NoError(t, err)
			cluster.Patch(t, record, client.RawPatch(types.MergePatchType, labels))
			ready := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRecordDamaged)
			if !strings.Contains(ready.Message, `Secret "sh.helm.release.v1.web.v2"`) || !strings.Contains(app.Status.Problems[0].Hint, "delete the Secret") {
				t.Errorf("got %s, and the problems %+v", ready.Message, app.Status.Problems)
			}
			cluster.Delete(t, record)
			cluster.Ready(t, app)
			historyIs(t, app, "1 superseded", "2 deployed")
			manager.Rest(t)
		})
	}
}

// Records that an AppService left with --cascade=orphan make room for those of the next one, however many they are and whatever else is left.
func TestOrphanedRecordsMakeRoom(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	manager := cluster.Manager(t, namespace, keeping(15))
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](0)
	cluster.CreateReady(t, app)
	for i := 2; i <= 12; i++ {
		released(t, app, fmt.Sprint("nginx:", i))
	}
	cluster.Delete(t, app, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	harness.Eventually(t, "the AppService is gone", func() error { return gone(t, namespace, "web", app) })
	for _, object := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}, &policyv1.PodDisruptionBudget{}} {
		object.SetNamespace(namespace)
		object.SetName("web")
		require.NoError(t, client.IgnoreNotFound(cluster.Client.Delete(t.Context(), object)))
	}
	app = harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](0)
	cluster.CreateReady(t, app)
	historyIs(t, app, "1 deployed")
	manager.Rest(t)
}

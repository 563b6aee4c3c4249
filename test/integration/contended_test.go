//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/plugin/history"
	"github.com/example/appservice-operator/test/harness"
)

// A field that another writer changes each time is restored twice at once, then ever less often, and the status names the writer. Other
// objects are repaired meanwhile.
func TestTwoWritersOfOneFieldDoNotLoop(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	first := deployment(t, app).Generation
	rivals := func() {
		set := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"revisionHistoryLimit":7}}`))
		require.NoError(t, cluster.Client.Patch(t.Context(), deployment(t, app), set, client.FieldOwner("rival")))
	}
	putBack := func() error {
		return want("the limit was put back", *deployment(t, app).Spec.RevisionHistoryLimit != 7, true)
	}
	for range 2 {
		rivals()
		harness.Eventually(t, "it is put back", putBack)
	}
	rivals()
	ready := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonContended)
	for _, part := range []string{"Deployment web: spec.revisionHistoryLimit", "last by rival", "every 10s"} {
		if !strings.Contains(ready.Message, part) {
			t.Errorf("the status does not say %q: %s", part, ready.Message)
		}
	}
	cluster.Delete(t, service(app))
	eventually(t, app, v1.ReasonDriftCorrected, "create Service web")
	harness.Eventually(t, "it is put back again", putBack)
	cluster.Ready(t, app)
	if now := deployment(t, app).Generation - first; now != 6 {
		t.Errorf("the Deployment was written %d times, want 3 by each", now)
	}
}

// An object that is deleted each time is a contest, too.
func TestAnObjectThatIsDeletedEachTime(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	for range 3 {
		harness.Eventually(t, "the Service is there", func() error {
			return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), service(app))
		})
		cluster.Delete(t, service(app))
	}
	ready := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonContended)
	if !strings.Contains(ready.Message, "Service web is changed each time") {
		t.Errorf("got the message %s", ready.Message)
	}
	cluster.Ready(t, app)
}

// An autoscaler of another team for the Deployment is named, with what to do; without one, the writer that scaled it, and how.
func TestWhoeverScalesADeploymentIsNamed(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	for name, test := range map[string]struct {
		autoscaler    bool
		message, hint string
	}{
		"web":    {true, "last by HorizontalPodAutoscaler mine", "delete HorizontalPodAutoscaler mine; spec.autoscaling"},
		"manual": {false, "last by keeper, through scale", "stop the other writer"},
	} {
		app := harness.Seed(namespace, name)
		cluster.CreateReady(t, app)
		if test.autoscaler {
			cluster.Create(t, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine"},
				Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 5, MinReplicas: ptr.To[int32](3),
					ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}}})
		}
		scale := func() {
			body := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
			require.NoError(t, cluster.Client.SubResource("scale").Update(t.Context(), deployment(t, app), client.WithSubResourceBody(body), client.FieldOwner("keeper")))
		}
		for range 2 {
			scale()
			harness.Eventually(t, "it is put back", func() error { return want("replicas", *deployment(t, app).Spec.Replicas, 2) })
		}
		scale()
		ready := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonContended)
		if !strings.Contains(ready.Message, test.message) || !strings.Contains(app.Status.Problems[0].Hint, test.hint) {
			t.Errorf("got the message %s and the problems %+v", ready.Message, app.Status.Problems)
		}
	}
}

// The history of an AppService names the writer that scaled it, not the one that applied it before.
func TestWhoScaledAnAppServiceIsInItsHistory(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	body := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
	require.NoError(t, cluster.Client.SubResource("scale").Update(t.Context(), app, client.WithSubResourceBody(body), client.FieldOwner("keeper")))
	resource := kube.Object(v1.GroupVersion.WithKind(v1.Kind))
	resource.SetNamespace(namespace)
	resource.SetName("web")
	cluster.Refresh(t, resource)
	by := func(revision int, want string) {
		t.Helper()
		harness.Eventually(t, "the release is recorded", func() error {
			list, err := history.List(t.Context(), cluster.Client, resource)
			if err == nil && (len(list) < revision || list[revision-1].ChangedBy != want) {
				err = fmt.Errorf("got %+v", list)
			}
			return err
		})
	}
	by(2, "keeper, through scale")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.28" })
	by(3, "integration.test")
}

// service is the Service of an AppService, unread.
func service(app *v1.AppService) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
}

//go:build cluster

package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
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

// service is the Service of an AppService, unread.
func service(app *v1.AppService) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
}

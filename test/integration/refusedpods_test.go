//go:build cluster

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// eventLists are the requests for events.
func eventLists(requests []harness.Request) []harness.Request {
	return slices.DeleteFunc(requests, func(r harness.Request) bool {
		return r.Writes() || !strings.Contains(r.Path, "/events")
	})
}

// tryAgain has the controller of ReplicaSets create the missing pods at once, however long it would pause.
func tryAgain(t *testing.T, namespace string) {
	t.Helper()
	sets := &appsv1.ReplicaSetList{}
	cluster.List(t, sets, client.InNamespace(namespace))
	for i := range sets.Items {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/again":%q}}}`, time.Now())
		require.NoError(t, cluster.Client.Patch(t.Context(), &sets.Items[i], client.RawPatch(types.MergePatchType, []byte(patch))))
	}
}

// The condition of a ReplicaSet keeps the message of the first refusal: the status names the last one.
func TestTheLastRefusalOfPodsIsNamed(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	quota := noPods(t, namespace)
	mark := manager.Requests.Mark()
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:2" })
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonQuotaExceeded)
	for _, object := range refusing(namespace, "", "pods") {
		cluster.Create(t, object)
		t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), object) })
	}
	harness.Eventually(t, "the policy refuses pods", func() error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
		if err := cluster.Client.Create(t.Context(), pod, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "refused by the test") {
			return fmt.Errorf("it answers %w", err)
		}
		return nil
	})
	cluster.Delete(t, quota)
	harness.Eventually(t, "the status names the policy", func() error {
		tryAgain(t, namespace)
		condition, err := now(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAdmissionDenied)
		if err == nil && !strings.Contains(condition.Message, namespace) {
			err = fmt.Errorf("got %s", condition.Message)
		}
		return err
	})
	for _, problem := range app.Status.Problems {
		assert.NotEqual(t, v1.ReasonQuotaExceeded, problem.Reason, "a cause that is gone is listed")
	}
	requests := manager.Requests.Since(mark)
	assert.LessOrEqual(t, len(eventLists(requests)), 2*looks(requests), "one look takes too many requests for events")
}

// A Deployment whose ReplicaSet is refused is not reported to have observed its spec: the status says why, and heals.
func TestARefusedReplicaSetIsNamed(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sets"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/replicasets.apps": resource.MustParse("1")}}}
	cluster.Create(t, quota)
	harness.Eventually(t, "the quota is in force", func() error {
		if err := present(t, quota); err != nil {
			return err
		}
		used := quota.Status.Used["count/replicasets.apps"]
		return want("used", used.String(), "1")
	})
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:2" })
	condition := cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonQuotaExceeded)
	assert.Contains(t, condition.Message, "sets")
	assert.Contains(t, cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonQuotaExceeded).Message, "the previous version still serves")
	require.NotEmpty(t, app.Status.Problems)
	assert.Contains(t, app.Status.Problems[0].Hint, "larger quota")
	cluster.Delete(t, quota)
	cluster.Ready(t, app)
	assert.Empty(t, app.Status.Problems)
}

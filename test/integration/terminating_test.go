//go:build cluster

package integration

import (
	"context"
	"fmt"
	"os"
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
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

const holding = "example.com/hold"

// held gives an object a finalizer that nobody removes.
func held(t *testing.T, object client.Object) {
	t.Helper()
	cluster.Edit(t, object, func() { object.SetFinalizers(append(object.GetFinalizers(), holding)) })
	t.Cleanup(func() { _ = withoutFinalizers(context.WithoutCancel(t.Context()), object) })
}

// free removes the finalizers of an object.
func free(t *testing.T, object client.Object) {
	t.Helper()
	require.NoError(t, withoutFinalizers(t.Context(), object))
}

func withoutFinalizers(ctx context.Context, object client.Object) error {
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	return client.IgnoreNotFound(cluster.Client.Patch(ctx, object, patch))
}

// blocked waits until the status names what is being deleted, with all parts of a message and a hint.
func blocked(t *testing.T, app *v1.AppService, hint string, message ...string) {
	t.Helper()
	harness.Eventually(t, "the status names what is being deleted", func() error {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		for _, problem := range app.Status.Problems {
			lacks := func(part string) bool { return !strings.Contains(problem.Message, part) }
			if problem.Reason == v1.ReasonDeletionBlocked && !slices.ContainsFunc(message, lacks) && strings.Contains(problem.Hint, hint) {
				return nil
			}
		}
		return fmt.Errorf("got %+v", app.Status.Problems)
	})
}

// A pod that cannot end keeps the next version from starting: the status says which, since when, what holds it and what to do.
func TestAPodThatCannotEndIsNamed(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](1)
	app.Spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	cluster.CreateReady(t, app)
	pod := podOf(t, app)
	held(t, pod)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:2" })
	blocked(t, app, "kubectl patch pod "+pod.Name, pod.Name, "Terminating since 20", "finalizer "+holding)
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonDeletionBlocked)
	free(t, pod)
	cluster.Ready(t, app)
	assert.Empty(t, app.Status.Problems)
}

// A claim that a user deleted stays while pods mount it, or while it has a finalizer.
func TestAClaimThatIsBeingDeletedIsNamed(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Persistence = &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: ptr.To(harness.StaticVolumes)}
	cluster.CreateReady(t, app)
	list := &corev1.PersistentVolumeClaimList{}
	cluster.List(t, list, client.InNamespace(namespace))
	require.Len(t, list.Items, 1)
	claim := &list.Items[0]
	held(t, claim)
	cluster.Delete(t, claim)
	waits := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPending)
	assert.Contains(t, waits.Message, claim.Name+" (since 20")
	blocked(t, app, claim.Name, claim.Name, "blocked by finalizer", holding)
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonDeletionBlocked)
	free(t, claim)
	cluster.Ready(t, app)
}

// The Job of the release before keeps the next one from starting while its pod cannot go.
func TestTheJobOfTheReleaseBeforeThatCannotGoIsNamed(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := migrated(namespace)
	scriptTask(app, runsOn)
	cluster.Create(t, app)
	pod := taskPod(t, namespace)
	held(t, pod)
	succeeds(t, pod)
	cluster.Ready(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image, app.Spec.PodAnnotations = "shop:2", nil
	})
	blocked(t, app, "kubectl patch pod "+pod.Name, pod.Name, "being deleted since 20", holding)
	free(t, pod)
	cluster.Ready(t, app)
}

// The version before did not name what cannot be deleted: with an upgrade, the status does, and nothing else is written.
func TestAnUpgradeNamesWhatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	commit, err := os.ReadFile(fleetBefore)
	require.NoError(t, err)
	namespace := cluster.Namespace(t)
	before := &former{namespace: namespace, binary: managerOf(t, strings.TrimSpace(string(commit))), kubeconfig: cluster.NewProxy(t).Kubeconfig,
		concurrent: 10, failed: 3, deadline: 15 * time.Minute}
	before.start(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](1)
	app.Spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	cluster.CreateReady(t, app)
	pod := podOf(t, app)
	held(t, pod)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:2" })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRollingOut)
	before.stop()
	running := uidsOf(t, namespace)

	manager := cluster.Manager(t, namespace, before.options)
	blocked(t, app, "kubectl patch pod "+pod.Name, pod.Name, "Terminating since 20")
	manager.Rest(t)
	assert.Equal(t, running, uidsOf(t, namespace))
	writes := manager.Requests.WritesSince(0)
	for _, write := range writes {
		assert.True(t, strings.HasSuffix(write.Path, "/appservices/web/status"), "the upgrade wrote: %s", write)
	}
	assert.LessOrEqual(t, len(writes), 2)
}

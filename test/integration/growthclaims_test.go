//go:build cluster

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// sharesNames is AppService web, whose claims have the names of those of AppService or StatefulSet db-web.
func sharesNames(namespace string, size int32) *v1.AppService {
	app := withClaims(namespace, "data-db")
	app.Spec.Size, app.Spec.Claims[0].Retain = &size, ptr.To(false)
	return app
}

// foreignClaim creates a claim of someone else: of an AppService of another UID, or of nobody's whom the operator knows.
func foreignClaim(t *testing.T, namespace, name, uid string) *corev1.PersistentVolumeClaim {
	t.Helper()
	claim := leftClaim(namespace, name, "db-web")
	claim.Labels[v1.LabelOwner] = uid
	if uid == "" {
		claim.Labels, claim.Annotations = nil, nil
	}
	cluster.Create(t, claim)
	return claim
}

// holds waits until a claim is in the way of an AppService, and checks that its StatefulSet has as many replicas as before.
func holds(t *testing.T, app *v1.AppService, claim string, replicas int32) {
	t.Helper()
	refused := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	assert.Contains(t, refused.Message, fmt.Sprintf("PersistentVolumeClaim %q exists and is not its own", claim))
	set := &appsv1.StatefulSet{}
	get(t, app, set)
	assert.Equal(t, replicas, *set.Spec.Replicas)
}

// Claims are called CLAIM-NAME-N, so two AppServices may mean the same one: who has it keeps it, also if the other one was there first.
func TestASizeThatGrowsDoesNotReachTheClaimsOfOthers(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app, other := sharesNames(namespace, 0), stateful(namespace, harness.StaticVolumes)
	cluster.CreateReady(t, app)
	other.Name, other.Spec.Size, other.Spec.Ports = "db-web", ptr.To[int32](1), nil
	cluster.CreateReady(t, other)
	key := client.ObjectKey{Namespace: namespace, Name: "data-db-web-0"}
	before := &corev1.PersistentVolumeClaim{}
	cluster.Get(t, key, before)
	scale := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":1}}`))
	live := &v1.AppService{ObjectMeta: app.ObjectMeta}
	require.NoError(t, cluster.Client.SubResource("scale").Patch(t.Context(), live, scale))
	holds(t, app, "data-db-web-0", 0)

	cluster.Delete(t, app)
	harness.Eventually(t, "its StatefulSet is gone", func() error { return gone(t, namespace, "web", &appsv1.StatefulSet{}) })
	after := &corev1.PersistentVolumeClaim{}
	cluster.Get(t, key, after)
	assert.Equal(t, before.UID, after.UID)
	assert.Nil(t, after.DeletionTimestamp)
	cluster.Ready(t, other)
}

func TestWhatRunsBesideTheClaimsOfOthersGoesOn(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := sharesNames(namespace, 1)
	cluster.CreateReady(t, app)
	foreignClaim(t, namespace, "data-db-web-2", "another") // beyond what it has
	unmarked := foreignClaim(t, namespace, "data-db-web-1", "")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](2) })
	holds(t, app, "data-db-web-1", 1)
	cluster.Delete(t, unmarked)
	cluster.Ready(t, app)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](0) })
	cluster.Ready(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](2) }) // its own claims
	cluster.Ready(t, app)
}

// An autoscaler asks nobody, so it goes as soon as a claim of others is in its reach.
func TestAnAutoscalerDoesNotReachTheClaimsOfOthers(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := sharesNames(namespace, 1)
	app.Spec.Resources, app.Spec.Autoscaling = cpuRequest(), &v1.Autoscaling{MaxReplicas: 3, Behavior: noScaleDown()}
	cluster.CreateReady(t, app)
	manager.Rest(t)
	foreignClaim(t, namespace, "data-db-web-3", "another") // beyond its reach
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{}
	get(t, app, autoscaler)
	foreignClaim(t, namespace, "data-db-web-2", "another")
	harness.Eventually(t, "the autoscaler is gone", func() error { return gone(t, namespace, "web", &autoscalingv2.HorizontalPodAutoscaler{}) })
	holds(t, app, "data-db-web-2", 1)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Autoscaling.MaxReplicas = 2 })
	cluster.Ready(t, app)
	get(t, app, autoscaler)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Autoscaling.MaxReplicas = 4 })
	holds(t, app, "data-db-web-2", 1)
	err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), autoscaler)
	if !apierrors.IsNotFound(err) {
		require.NoError(t, err)
		assert.Equal(t, int32(2), autoscaler.Spec.MaxReplicas)
	}
}

//go:build cluster

package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// perReplicaClaim is a further claim of each replica, of a class.
func perReplicaClaim(name, class string) v1.Claim {
	return v1.Claim{Name: name, Size: resource.MustParse("1Gi"), StorageClassName: &class, PerReplica: true,
		Mounts: []v1.ClaimMount{{Path: "/" + name}}}
}

// withClaims is an AppService that is a StatefulSet of one replica with further claims, all of the class of test clusters.
func withClaims(namespace string, names ...string) *v1.AppService {
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.Size, app.Spec.StatefulSet = ptr.To[int32](1), &v1.StatefulSet{}
	for _, name := range names {
		app.Spec.Claims = append(app.Spec.Claims, perReplicaClaim(name, harness.StaticVolumes))
	}
	return app
}

// A StatefulSet with claims of its own names, in an order of its own, is adopted with them: by adoption and by the next image, each claim
// stays the one that it was.
func TestAStatefulSetWithTwoClaimsIsAdoptedWithBoth(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	set := fromYAML(t, namespace, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 1, serviceName: nodes, selector: {matchLabels: {app: web}},
	  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: db, image: x, volumeMounts: [{name: pgdata, mountPath: /pg, subPath: pg}, {name: wal, mountPath: /wal}]}]}},
	  volumeClaimTemplates: [{metadata: {name: wal}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}},
	    {metadata: {name: pgdata}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}`)
	cluster.Create(t, set)
	before := claims(t, namespace, "pgdata-web-0 1Gi", "wal-web-0 2Gi")
	cluster.Manager(t, namespace)
	app := asksToAdopt(t, namespace, `{size: 1, statefulSet: {serviceName: nodes}, claims: [
	  {name: pgdata, perReplica: true, size: 1Gi, storageClassName: none, mounts: [{path: /pg, subPath: pg}]},
	  {name: wal, perReplica: true, size: 2Gi, storageClassName: none, mounts: [{path: /wal}]}]}`)
	app.Annotations[v1.AnnotationAdoptRestart] = "true"
	cluster.CreateReady(t, app)
	const after = `{spec: {serviceName: nodes, volumeClaimTemplates: [{metadata: {name: wal}}, {metadata: {name: pgdata}}], template: {spec: {containers: [{name: app, IMAGE
	  volumeMounts: [{name: pgdata, mountPath: /pg, subPath: pg}, {name: wal, mountPath: /wal}]}]}}}}`
	taken(t, app, set, strings.Replace(after, "IMAGE", "", 1))
	assert.Equal(t, before, claims(t, namespace, "pgdata-web-0 1Gi", "wal-web-0 2Gi"))

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)
	taken(t, app, set, strings.Replace(after, "IMAGE", "image: nginx:1.27,", 1))
	assert.Equal(t, before, claims(t, namespace, "pgdata-web-0 1Gi", "wal-web-0 2Gi"))
}

// The list of claim templates can never change: nothing is written, and the remedy that is named leads there without losing a claim.
func TestTheClaimsOfAStatefulSetStayThose(t *testing.T) {
	t.Parallel()
	cluster.CollectsGarbage(t)
	namespace, manager := cluster.ManagedNamespace(t)
	app := withClaims(namespace, "pgdata")
	cluster.CreateReady(t, app)
	before, set := claims(t, namespace, "pgdata-web-0 1Gi"), &appsv1.StatefulSet{}

	change := func(image string, names ...string) {
		cluster.Change(t, app, func(app *v1.AppService) {
			app.Spec.Image, app.Spec.Claims = image, withClaims(namespace, names...).Spec.Claims
		})
	}
	refused := func(words string) {
		t.Helper()
		condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonImmutableChange)
		assert.Contains(t, condition.Message, words)
		get(t, app, set)
		assert.NoError(t, want("image", set.Spec.Template.Spec.Containers[0].Image, "nginx:1.7.9"))
	}
	change("nginx:1.27", "pgdata", "wal")
	refused(`spec.volumeClaimTemplates of StatefulSet "web" cannot get "wal": set the claims with perReplica back`)
	change("nginx:1.27")
	refused(`spec.volumeClaimTemplates of StatefulSet "web" cannot lose "pgdata"`)
	change("nginx:1.7.9", "pgdata")
	cluster.Ready(t, app)
	manager.Rest(t)

	change("nginx:1.27", "wal", "pgdata")
	refused(`cannot get "wal"`)
	was, pod := set.UID, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-0"}}
	cluster.Delete(t, set, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	harness.Eventually(t, "the StatefulSet is there again", func() error {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), set); err != nil {
			return err
		}
		return want("it is another one", set.UID != was, true)
	})
	require.NoError(t, present(t, pod))
	cluster.Delete(t, pod)
	after := claims(t, namespace, "pgdata-web-0 1Gi", "wal-web-0 1Gi")
	assert.Equal(t, before[0], after[0])
	cluster.Ready(t, app)

	change("nginx:1.28", "pgdata", "wal") // in another order
	cluster.Ready(t, app)
	assert.Equal(t, after, claims(t, namespace, "pgdata-web-0 1Gi", "wal-web-0 1Gi"))
	manager.Rest(t)
}

func TestAStatefulSetWithoutClaims(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := withClaims(namespace)
	app.Spec.Size = ptr.To[int32](2)
	cluster.CreateReady(t, app)
	set := &appsv1.StatefulSet{}
	get(t, app, set)
	assert.NoError(t, want("serviceName", set.Spec.ServiceName, "web-headless"))
	require.NoError(t, present(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-headless"}}))
	pods := podsOf(t, namespace)
	if pods["web-0"] == "" || pods["web-1"] == "" || len(pods) != 2 {
		t.Errorf("got the pods %v", pods)
	}
	claims(t, namespace)
	manager.Rest(t)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.StatefulSet, app.Spec.Image = nil, "nginx:1.27" })
	keepsItsKind(t, app, `spec.statefulSet cannot be added or removed: StatefulSet "web" would have to become a Deployment`)
	assert.Equal(t, pods, podsOf(t, namespace))
	assert.NoError(t, gone(t, namespace, "web", &appsv1.Deployment{}))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.StatefulSet = &v1.StatefulSet{} })
	cluster.Ready(t, app)
}

func TestADeploymentDoesNotBecomeAStatefulSet(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	pods := podsOf(t, namespace)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.StatefulSet, app.Spec.Image = &v1.StatefulSet{}, "nginx:1.27" })
	keepsItsKind(t, app, `spec.statefulSet cannot be added or removed: Deployment "web" would have to become a StatefulSet`)
	assert.Equal(t, pods, podsOf(t, namespace))
	assert.NoError(t, gone(t, namespace, "web", &appsv1.StatefulSet{}))
	assert.NoError(t, gone(t, namespace, "web-headless", &corev1.Service{}))
}

// keepsItsKind waits until the change of a workload's kind is refused, with the way that leads there.
func keepsItsKind(t *testing.T, app *v1.AppService, words string) {
	t.Helper()
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonImmutableChange)
	assert.Contains(t, condition.Message, words)
	require.NotEmpty(t, app.Status.Problems)
	assert.Contains(t, app.Status.Problems[0].Hint, "set spec.statefulSet back; or follow docs/convert-workload.md")
}

// Further claims grow, stay or go as the claim of spec.persistence does.
func TestFurtherClaimsGrowAndStay(t *testing.T) {
	t.Parallel()
	cluster.CollectsGarbage(t)
	namespace, manager := cluster.ManagedNamespace(t)
	class := harness.GrowingVolumes
	app := withClaims(namespace)
	shared := func(name string, retain bool) v1.Claim {
		return v1.Claim{Name: name, Size: resource.MustParse("1Gi"), StorageClassName: &class, Retain: &retain, Mounts: []v1.ClaimMount{{Path: "/" + name}}}
	}
	app.Spec.Claims = []v1.Claim{perReplicaClaim("pgdata", class), shared("kept", true), shared("cache", false)}
	cluster.CreateReady(t, app)
	claims(t, namespace, "pgdata-web-0 1Gi", "web-cache 1Gi", "web-kept 1Gi")
	pods := podsOf(t, namespace)
	cluster.Change(t, app, func(app *v1.AppService) {
		for i := range app.Spec.Claims {
			app.Spec.Claims[i].Size = resource.MustParse("2Gi")
		}
	})
	claims(t, namespace, "pgdata-web-0 2Gi", "web-cache 2Gi", "web-kept 2Gi")
	cluster.Ready(t, app)
	manager.Rest(t)
	assert.Equal(t, pods, podsOf(t, namespace))
	cluster.Delete(t, app)
	claims(t, namespace, "pgdata-web-0 2Gi", "web-kept 2Gi")
}

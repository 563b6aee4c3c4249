//go:build cluster

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// An earlier operator marked claims by the name of their AppService only. Those of an AppService that runs are its own, of every ordinal.
func TestClaimsThatAreMarkedByNameGoOn(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app, one := stateful(namespace, harness.StaticVolumes), harness.Seed(namespace, "one")
	one.Spec.Ports[0].NodePort = nil
	one.Spec.Size = ptr.To[int32](0)
	one.Spec.Persistence = &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: ptr.To("none")}
	cluster.CreateReady(t, app)
	cluster.CreateReady(t, one)
	earlier := leftClaim(namespace, "data-web-7", "web")
	cluster.Create(t, earlier)
	for _, name := range []string{"data-web-1", "one"} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:null}}}`, v1.LabelOwner)
		require.NoError(t, cluster.Client.Patch(t.Context(), claim, client.RawPatch("application/merge-patch+json", patch)))
	}
	for name, owner := range map[string]*v1.AppService{"data-web-0": app, "data-web-1": app, "data-web-7": app, "one": one} {
		harness.Eventually(t, "claim "+name+" is marked", func() error {
			claim := &corev1.PersistentVolumeClaim{}
			if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, claim); err != nil {
				return err
			}
			return want("owner", claim.Labels[v1.LabelOwner], string(owner.UID))
		})
	}
	manager.Rest(t)
	cluster.Ready(t, app)
	cluster.Ready(t, one)
}

// Leftovers of an AppService are not given to another one because of its name, although that one has run for some time.
func TestALeftClaimIsNotGivenToAnAppServiceThatRuns(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	left := leftClaim(namespace, "web", "web")
	cluster.Create(t, left)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Persistence = &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: ptr.To("none")}
	})
	refused := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	assert.Contains(t, refused.Message, `PersistentVolumeClaim "web" exists and is not its own (annotation app.example.com/adopt: "true" takes it over, with its data)`)
	get(t, app, left)
	assert.Empty(t, left.Labels[v1.LabelOwner])
}

// leftClaim is a claim as an earlier operator marked it for an AppService.
func leftClaim(namespace, name, of string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{v1.LabelManaged: "true"},
		Annotations: map[string]string{v1.AnnotationRetainedFor: of},
	}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.StorageClassName = ptr.To(harness.StaticVolumes)
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	return claim
}

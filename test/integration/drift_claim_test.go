//go:build cluster

package integration

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// A claim cannot shrink, so one that a user grew is not drift.
func TestAClaimThatGrewStays(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	class := &storagev1.StorageClass{Provisioner: "kubernetes.io/no-provisioner", AllowVolumeExpansion: ptr.To(true)}
	class.GenerateName = "grows-"
	cluster.Create(t, class)
	volume := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("5Gi")},
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		StorageClassName:       class.Name,
		PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs.example.com", Path: "/"}},
	}}
	volume.GenerateName = class.Name + "-"
	cluster.Create(t, volume)
	t.Cleanup(func() {
		for _, object := range []client.Object{class, volume} {
			_ = cluster.Client.Delete(context.WithoutCancel(t.Context()), object)
		}
	})
	app := harness.Seed(namespace, "web")
	app.Spec.Persistence = &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: &class.Name}
	cluster.Create(t, app)
	claim := named(app, &corev1.PersistentVolumeClaim{})
	cluster.Becomes(t, "the claim is bound", claim, func() error { return want("phase", claim.Status.Phase, corev1.ClaimBound) })
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`))
	cluster.Patch(t, claim, patch)
	manager.Rest(t)
	cluster.Ready(t, app)
	if repairs := repairsOf(t, namespace); len(repairs) > 0 {
		t.Errorf("the claim was repaired: %q", repairs)
	}
	patch = client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"app.kubernetes.io/instance":"other"}}}`))
	cluster.Patch(t, claim, patch)
	harness.Eventually(t, "the label is put back", func() error {
		if err := present(t, claim); err != nil {
			return err
		}
		return want("label", claim.Labels["app.kubernetes.io/instance"], "web")
	})
	assert.NoError(t, want("size", claim.Spec.Resources.Requests.Storage().String(), "2Gi"))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Persistence.Size = resource.MustParse("512Mi") })
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, "")
	if !strings.Contains(condition.Message, "requests.storage") {
		t.Errorf("the message does not name the field: %s", condition.Message)
	}
}

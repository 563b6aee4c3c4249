package harness

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The storage classes of claims for which test clusters create a volume.
const (
	StaticVolumes  = "none"    // without an object of its own, so that its claims cannot grow
	FixedVolumes   = "fixed"   // that says so
	GrowingVolumes = "growing" // with volumes of 5Gi
)

// serveVolumes creates the classes that have an object.
func (c *Cluster) serveVolumes(ctx context.Context) error {
	for name, grows := range map[string]bool{FixedVolumes: false, GrowingVolumes: true} {
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		class.Provisioner, class.AllowVolumeExpansion = "kubernetes.io/no-provisioner", &grows
		if err := client.IgnoreAlreadyExists(c.Client.Create(ctx, class)); err != nil {
			return err
		}
	}
	return nil
}

// provide creates a volume for a claim of these classes, as administrators do in clusters without a provisioner.
func (c *Cluster) provide(ctx context.Context, claim *corev1.PersistentVolumeClaim) {
	known := []string{StaticVolumes, FixedVolumes, GrowingVolumes}
	if slices.Contains(known, ptr.Deref(claim.Spec.StorageClassName, "")) && claim.Spec.VolumeName == "" {
		_ = c.Client.Create(ctx, volumeFor(claim)) // it exists already, or the tests are over
	}
}

func volumeFor(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	class, capacity := *claim.Spec.StorageClassName, claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if class == GrowingVolumes {
		capacity = resource.MustParse("5Gi")
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "for-" + string(claim.UID)},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: class, AccessModes: claim.Spec.AccessModes, VolumeMode: claim.Spec.VolumeMode,
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: capacity},
			ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
		},
	}
}

package harness

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// StaticVolumes is the storage class, without an object of its own, of claims for which test clusters create a volume.
const StaticVolumes = "none"

// provide creates a volume for a claim of the class, as administrators do in clusters without a provisioner.
func (c *Cluster) provide(ctx context.Context, claim *corev1.PersistentVolumeClaim) {
	if ptr.Deref(claim.Spec.StorageClassName, "") == StaticVolumes && claim.Spec.VolumeName == "" {
		_ = c.Client.Create(ctx, volumeFor(claim)) // it exists already, or the tests are over
	}
}

func volumeFor(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "for-" + string(claim.UID)},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: StaticVolumes, AccessModes: claim.Spec.AccessModes, VolumeMode: claim.Spec.VolumeMode,
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
		},
	}
}

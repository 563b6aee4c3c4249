package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Persistence describes a PersistentVolumeClaim, mounted into the main container: one for all replicas, or one for
// each.
//
// +kubebuilder:validation:XValidation:rule="self.?perReplica.orValue(false) || !has(self.podManagementPolicy)",message="spec.persistence.podManagementPolicy needs spec.persistence.perReplica: leave it out"
// +kubebuilder:validation:XValidation:rule="self.?perReplica.orValue(false) || !has(self.whenScaled)",message="spec.persistence.whenScaled needs spec.persistence.perReplica: leave it out"
type Persistence struct {
	// Size of the volume, for example 10Gi.
	Size resource.Quantity `json:"size"`

	// StorageClassName names the kind of storage. Defaults to the cluster's default.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`

	// AccessModes are the ways in which nodes can mount it. Defaults to ReadWriteOnce.
	// +listType=set
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:Enum=ReadWriteOnce;ReadOnlyMany;ReadWriteMany;ReadWriteOncePod
	// +optional
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`

	// MountPath is where it is mounted in the main container.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	MountPath string `json:"mountPath"`

	// Mounts are further places of the volume in the main container.
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Mounts []ClaimMount `json:"mounts,omitempty"`

	// Annotations of the claim.
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && !k.contains('kubernetes.io/'))",message="spec.persistence.annotations must not have keys of app.example.com/, helm.sh/, meta.helm.sh/ or kubernetes.io/, which select the storage and its owner: use storageClassName and accessModes"
	// +optional
	Annotations map[string]Annotation `json:"annotations,omitempty"`

	// Retain keeps the claim, and its data, when the AppService is deleted; a new AppService of the name adopts it.
	// Defaults to true.
	// +optional
	Retain *bool `json:"retain,omitempty"`

	// PerReplica gives each replica a volume of its own, and a name that stays: NAME-0, NAME-1 and so on, reachable as
	// NAME-0.NAME-headless. A StatefulSet takes the place of the Deployment: replicas are replaced one after the other. It
	// cannot be changed afterwards.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Per replica",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch","urn:alm:descriptor:com.tectonic.ui:advanced"}
	PerReplica bool `json:"perReplica,omitempty"`

	// PodManagementPolicy is whether replicas are started and stopped one after the other, each once the one before it is
	// ready, or all at once. It needs perReplica. Defaults to OrderedReady.
	// +kubebuilder:validation:Enum=OrderedReady;Parallel
	// +optional
	PodManagementPolicy appsv1.PodManagementPolicyType `json:"podManagementPolicy,omitempty"`

	// WhenScaled is whether the PersistentVolumeClaim of a replica that is scaled down is retained or deleted. If it is
	// retained, the next replica of that number has its data. It needs perReplica. Defaults to Retain.
	// +kubebuilder:validation:Enum=Retain;Delete
	// +optional
	WhenScaled appsv1.PersistentVolumeClaimRetentionPolicyType `json:"whenScaled,omitempty"`
}

package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// StatefulSet gives replicas names that stay: NAME-0, NAME-1 and so on. They are replaced one after the other.
type StatefulSet struct {
	// PodManagementPolicy is whether replicas are started and stopped one after the other, each once the one before it is
	// ready, or all at once. Defaults to OrderedReady.
	// +kubebuilder:validation:Enum=OrderedReady;Parallel
	// +optional
	PodManagementPolicy appsv1.PodManagementPolicyType `json:"podManagementPolicy,omitempty"`

	// ServiceName is the Service that replicas have their names from, as in NAME-0.SERVICE: a headless one of your own, or
	// that of this AppService with service.clusterIP None. Defaults to NAME-headless, which is created.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	ServiceName string `json:"serviceName,omitempty"`

	// WhenScaled is whether the claims of a replica that is scaled down are retained or deleted: those with perReplica.
	// Defaults to Retain.
	// +kubebuilder:validation:Enum=Retain;Delete
	// +optional
	WhenScaled appsv1.PersistentVolumeClaimRetentionPolicyType `json:"whenScaled,omitempty"`
}

// Claim is a further PersistentVolumeClaim: one for all replicas, NAME-CLAIM, or one for each, CLAIM-NAME-0 and so on.
// Pods have it as a volume of its name.
//
// +kubebuilder:validation:XValidation:rule="self.?perReplica.orValue(false) || !self.name.matches('(^|-)[0-9]+$')",message="spec.claims[].name must not end with a number unless perReplica is true, since the claims of replicas end with theirs: rename it"
type Claim struct {
	// Name of the claim and of the volume. It must not be data beside persistence.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

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

	// Mounts are the places of the volume in the main container. Other containers mount it by its name.
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Mounts []ClaimMount `json:"mounts,omitempty"`

	// Retain keeps the claim, and its data, when the AppService is deleted. It is the same for all claims with perReplica.
	// Defaults to true.
	// +optional
	Retain *bool `json:"retain,omitempty"`

	// Annotations of the claim.
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && !k.contains('kubernetes.io/'))",message="spec.claims[].annotations must not have keys of app.example.com/, helm.sh/, meta.helm.sh/ or kubernetes.io/, which select the storage and its owner: use storageClassName and accessModes"
	// +optional
	Annotations map[string]Annotation `json:"annotations,omitempty"`

	// PerReplica gives each replica a claim of its own. It needs statefulSet or persistence.perReplica, and cannot be
	// changed afterwards.
	// +optional
	PerReplica bool `json:"perReplica,omitempty"`
}

// ClaimMount is a place of a volume in the main container.
type ClaimMount struct {
	// Path of the folder.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	Path string `json:"path"`

	// SubPath is the folder within the volume. Defaults to all of it.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	SubPath string `json:"subPath,omitempty"`

	// ReadOnly keeps the container from writing there.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`
}

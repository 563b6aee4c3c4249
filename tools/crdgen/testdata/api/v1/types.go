// Package v1 is an API that embeds as much of Kubernetes as an application may need.
//
// +groupName=test.example.com
// +versionName=v1
package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example/appservice-operator/tools/crdgen/testdata/foreign"
)

// WideSpec is what is wanted.
type WideSpec struct {
	// InitContainers run first.
	// +listType=map
	// +listMapKey=name
	// +optional
	InitContainers []corev1.Container `json:"initContainers,omitempty"`

	// Containers run along with the main container.
	// +listType=map
	// +listMapKey=name
	// +optional
	Containers []corev1.Container `json:"containers,omitempty"`

	// Ports are container ports.
	// +listType=map
	// +listMapKey=containerPort
	// +listMapKey=protocol
	// +optional
	Ports []corev1.ContainerPort `json:"ports,omitempty"`

	// Volumes of the pod.
	// +listType=map
	// +listMapKey=name
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// VolumeMounts of the main container.
	// +listType=map
	// +listMapKey=mountPath
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// ImagePullSecrets name Secrets. Their key has a default only.
	// +listType=map
	// +listMapKey=name
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Affinity of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// Tolerations of the pods.
	// +listType=atomic
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// TopologySpreadConstraints of the pods.
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// PodSecurityContext of the pods.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`

	// SecurityContext of the main container.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`

	// Lifecycle of the main container.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty"`

	// LivenessProbe of the main container.
	// +optional
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`

	// Strategy of the Deployment.
	// +optional
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`

	// HostAliases of the pods.
	// +listType=map
	// +listMapKey=ip
	// +optional
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`

	// DNSConfig of the pods.
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`

	// Metrics to scale by.
	// +listType=atomic
	// +optional
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty"`

	// Behavior of the scaling.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`

	// From which peers traffic is let in.
	// +listType=atomic
	// +optional
	From []networkingv1.NetworkPolicyPeer `json:"from,omitempty"`

	// Egress says what traffic is let out.
	// +listType=atomic
	// +optional
	Egress []networkingv1.NetworkPolicyEgressRule `json:"egress,omitempty"`

	// Protocol is a field of ours with a default of ours and a foreign type.
	// +kubebuilder:default=UDP
	// +optional
	Protocol corev1.Protocol `json:"protocol,omitempty"`

	// Grade has a default of ours, its foreign type one of its own.
	// +kubebuilder:default=ours
	// +optional
	Grade foreign.Grade `json:"grade,omitempty"`

	// Foreign has a foreign type.
	// +optional
	Foreign *foreign.Lists `json:"foreign,omitempty"`

	Wrapped `json:",inline"`
}

// Wrapped is embedded.
type Wrapped struct {
	foreign.Embedded `json:",inline"`

	// Own is required.
	Own string `json:"own"`
}

// Wide is a kind of ours.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Wide struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what is wanted.
	Spec WideSpec `json:"spec"`

	// Status is what is there.
	// +optional
	Status WideStatus `json:"status,omitempty"`
}

// WideStatus is what is there.
type WideStatus struct {
	// Conditions say how it is.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

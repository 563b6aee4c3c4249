package v1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Autoscaling lets a HorizontalPodAutoscaler set the number of replicas, or KEDA if there are triggers.
//
// +kubebuilder:validation:XValidation:rule="!has(self.triggers) || !(has(self.targetCPUUtilizationPercentage) || has(self.targetMemoryUtilizationPercentage) || has(self.metrics))",message="spec.autoscaling.triggers excludes targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage and metrics: use triggers of type cpu or memory instead"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas > 0 || has(self.triggers) || (has(self.metrics) && self.metrics.exists(m, m.type in ['External', 'Object']))",message="spec.autoscaling.minReplicas 0 needs spec.autoscaling.triggers, or a metric of type External or Object (Kubernetes 1.37): without a replica, there is no usage of pods to measure"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas > 0 || !has(self.triggers) || self.triggers.exists(t, !(t.type in ['cpu', 'memory']))",message="spec.autoscaling.minReplicas 0 needs a trigger of another type than cpu and memory: without a replica, there is no usage to measure"
// +kubebuilder:validation:XValidation:rule="has(self.triggers) || !(has(self.pollingSeconds) || has(self.cooldownSeconds))",message="spec.autoscaling.pollingSeconds and cooldownSeconds need spec.autoscaling.triggers"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",message="spec.autoscaling.minReplicas must not exceed maxReplicas"
type Autoscaling struct {
	// MinReplicas is the least number of replicas. Defaults to 1. With triggers, it may be 0: nothing runs while there is
	// nothing to do. So it may from Kubernetes 1.37 on with a metric of type External or Object.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// MaxReplicas is the greatest number of replicas.
	// +kubebuilder:validation:Minimum=1
	MaxReplicas int32 `json:"maxReplicas"`

	// TargetCPUUtilizationPercentage is the use of CPU to aim at, in percent of what all containers request, sidecars
	// included: each needs a request or a limit of CPU in its resources, or a LimitRange that sets one. Defaults to 80 if
	// there is no other target.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TargetCPUUtilizationPercentage *int32 `json:"targetCPUUtilizationPercentage,omitempty"`

	// TargetMemoryUtilizationPercentage is the use of memory to aim at, in percent of what all containers request, as for
	// CPU.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TargetMemoryUtilizationPercentage *int32 `json:"targetMemoryUtilizationPercentage,omitempty"`

	// Metrics are further targets.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty"`

	// Behavior is how fast to scale up and down.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`

	// Triggers let KEDA scale, by events from outside of the cluster too, and down to no replicas. They become a
	// ScaledObject. If the cluster has no KEDA, the AppService is refused.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(t, !has(t.name) || self.exists_one(o, has(o.name) && o.name == t.name))",message="spec.autoscaling.triggers[].name must be unique"
	// +optional
	Triggers []Trigger `json:"triggers,omitempty"`

	// PollingSeconds is how often KEDA asks the triggers. Defaults to KEDA's 30.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	PollingSeconds *int32 `json:"pollingSeconds,omitempty"`

	// CooldownSeconds is how long no trigger may be active before the last replica is stopped. Defaults to KEDA's 300.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	// +optional
	CooldownSeconds *int32 `json:"cooldownSeconds,omitempty"`
}

// PodDisruptionBudget limits how many pods are evicted at a time.
type PodDisruptionBudget struct {
	// Enabled decides whether there is a PodDisruptionBudget. By default there is one when at least 2 replicas are kept.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pod disruption budget enabled",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"}
	Enabled *bool `json:"enabled,omitempty"`

	// MinAvailable is the number, or percentage, of pods that must stay.
	// +optional
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`

	// MaxUnavailable is the number, or percentage, of pods that may be missing. Defaults to 1.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// Monitoring describes a ServiceMonitor of the Prometheus operator.
type Monitoring struct {
	// Enabled makes a ServiceMonitor.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Monitoring enabled",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"}
	Enabled bool `json:"enabled,omitempty"`

	// Port is the port of an entry in spec.ports. Defaults to the first.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Path that metrics are served under. Defaults to /metrics.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	Path string `json:"path,omitempty"`

	// Interval between scrapes, for example 30s. Defaults to that of Prometheus.
	// +kubebuilder:validation:Pattern=`^([0-9]+(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Interval string `json:"interval,omitempty"`

	// Labels of the ServiceMonitor, by which a Prometheus selects it.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['app.kubernetes.io/name','app.kubernetes.io/instance','app.kubernetes.io/managed-by']) && !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && (k.startsWith('app.kubernetes.io/') || !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/')))",message="spec.monitoring.labels has a reserved key: remove it; use a domain of your own, or app.kubernetes.io/component, part-of or version",messageExpression="'spec.monitoring.labels: key ' + self.filter(k, !(!(k in ['app.kubernetes.io/name','app.kubernetes.io/instance','app.kubernetes.io/managed-by']) && !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && (k.startsWith('app.kubernetes.io/') || !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/'))))[0] + ' is reserved: remove it; use a domain of your own, or app.kubernetes.io/component, part-of or version'"
	// +optional
	Labels map[string]Label `json:"labels,omitempty"`
}

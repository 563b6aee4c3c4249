package kube

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Traits describe what is special about the objects of a kind. The zero value stands for all kinds that are not
// special.
type Traits struct {
	// PodTemplate is the path of the pod template; nil for kinds without one.
	PodTemplate []string
	// Exclusive is the path of the part that belongs to the operator alone: fields that others add are removed. It is a
	// pod template, or ports, which cannot be merged with those of others.
	Exclusive []string
	// Scales: an autoscaler owns spec.replicas if they are not rendered.
	Scales bool
	// First: written before all others. The API server allocates node ports when a Service is written, which no dry run
	// does: if one is refused, nothing else has changed.
	First bool
	// Claims is the path of the templates from which the controller creates claims for its pods; nil for kinds without.
	// They never change: changes are applied to the claims.
	Claims []string
	// Grows: the size of the volume never shrinks, whoever made it larger.
	Grows bool
	// Adoptable: objects that others created may be taken over. Users who request that need the right to update all of
	// these kinds: config/admission/adoption.yaml.
	Adoptable bool
	// Payload: it is only data, which must not appear in events and logs.
	Payload bool
	// RunsPods: its controller creates pods.
	RunsPods bool
	// ReadOfOthers: the operator reads it whoever created it, for the hosts of routes and the size of volumes. An outline
	// has neither.
	ReadOfOthers bool
	// Immutable are the fields that the API server never lets change.
	Immutable Immutable
}

// Immutable describes fields that cannot change. The API server decides: this predicts its answer where it is not
// asked.
type Immutable struct {
	// Fixed are the paths of fields, each including all below it.
	Fixed []string
	// Only are the fields of spec that can change; nil if all can except for the fixed ones.
	Only []string
	// Sealed are the additional fixed fields of an object that is marked as immutable.
	Sealed []string
}

var (
	template    = []string{"spec", "template"}
	jobTemplate = []string{"spec", "jobTemplate", "spec", "template"}
	bySelector  = Immutable{Fixed: []string{"spec.selector"}}
	byRole      = Immutable{Fixed: []string{"roleRef"}}
)

// kinds are all special kinds, with the traits that most packages ask for. How objects become ready is in
// status/health, what hosts they answer in hosts, which of their lists are merged by keys in release/plan.
var kinds = map[schema.GroupKind]Traits{
	{Group: appsv1.GroupName, Kind: "Deployment"}: {
		Adoptable: true, PodTemplate: template, Exclusive: template, Scales: true, RunsPods: true, Immutable: bySelector,
	},
	{Group: appsv1.GroupName, Kind: "StatefulSet"}: {
		Adoptable: true, PodTemplate: template, Exclusive: template, Scales: true, RunsPods: true,
		Claims: []string{"spec", "volumeClaimTemplates"},
		Immutable: Immutable{Only: []string{
			"minReadySeconds", "ordinals", "persistentVolumeClaimRetentionPolicy", "replicas", "revisionHistoryLimit",
			"template", "updateStrategy",
		}},
	},
	{Group: appsv1.GroupName, Kind: "DaemonSet"}: {PodTemplate: template, Exclusive: template, RunsPods: true,
		Immutable: bySelector},
	{Group: appsv1.GroupName, Kind: "ReplicaSet"}: {PodTemplate: template, Exclusive: template, RunsPods: true,
		Immutable: bySelector},
	{Group: batchv1.GroupName, Kind: "CronJob"}: {Adoptable: true, PodTemplate: jobTemplate, Exclusive: jobTemplate,
		RunsPods: true},
	// The template of a Job never changes, so there is nothing to repair in it.
	{Group: batchv1.GroupName, Kind: "Job"}: {RunsPods: true, Immutable: Immutable{Only: []string{
		"activeDeadlineSeconds", "backoffLimit", "parallelism", "suspend", "ttlSecondsAfterFinished",
	}}},
	{Group: corev1.GroupName, Kind: "Service"}: {Adoptable: true, First: true, Exclusive: []string{"spec", "ports"}},
	{Group: corev1.GroupName, Kind: RetainedKind}: {
		Adoptable: true, Grows: true, ReadOfOthers: true,
		Immutable: Immutable{Only: []string{"resources", "volumeAttributesClassName"}},
	},
	{Group: corev1.GroupName, Kind: "Secret"}: {
		Payload: true, Immutable: Immutable{Fixed: []string{"type"}, Sealed: []string{"data", "stringData", "immutable"}},
	},
	{Group: corev1.GroupName, Kind: "ConfigMap"}: {
		Adoptable: true, Payload: true, Immutable: Immutable{Sealed: []string{"data", "binaryData", "immutable"}},
	},
	{Group: corev1.GroupName, Kind: "ServiceAccount"}:                 {Adoptable: true},
	{Group: networkingv1.GroupName, Kind: "Ingress"}:                  {Adoptable: true, ReadOfOthers: true},
	{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}:           {ReadOfOthers: true},
	{Group: "gateway.networking.k8s.io", Kind: "GRPCRoute"}:           {ReadOfOthers: true},
	{Group: autoscalingv2.GroupName, Kind: "HorizontalPodAutoscaler"}: {Adoptable: true},
	{Group: policyv1.GroupName, Kind: "PodDisruptionBudget"}:          {Adoptable: true},
	{Group: rbacv1.GroupName, Kind: "RoleBinding"}:                    {Immutable: byRole},
	{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding"}:             {Immutable: byRole},
}

// TraitsOf returns the traits of a kind.
func TraitsOf(kind schema.GroupKind) Traits { return kinds[kind] }

// RetainedKind is the kind of objects that may be retained when their resource is deleted.
const RetainedKind = "PersistentVolumeClaim"

package v1

import "k8s.io/apimachinery/pkg/runtime"

// PodTemplate is a patch of a pod template.
type PodTemplate struct {
	// Metadata is laid over that of the pods.
	// +optional
	Metadata *PodTemplateMetadata `json:"metadata,omitempty"`

	// Spec is merged into that of the pods, as kubectl patch --type=strategic does: containers, variables, volumes and the
	// like by their names, other lists as a whole. null removes a field; in lists with names, "$patch: delete" next to the
	// name of an entry removes that entry, and an entry that is "$patch: replace" alone removes all others. The container
	// app can be neither removed nor renamed. It is as strict as a Pod: unknown fields are refused.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Spec *runtime.RawExtension `json:"spec,omitempty"`
}

// PodTemplateMetadata are labels and annotations of pods.
type PodTemplateMetadata struct {
	// Labels of the pods. They win over podLabels and commonLabels.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['app.kubernetes.io/name','app.kubernetes.io/instance','pod-template-hash','controller-revision-hash']) && !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && (k.startsWith('app.kubernetes.io/') || !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/')))",message="spec.podTemplate.metadata.labels has a reserved key: remove it; use a domain of your own, or app.kubernetes.io/component, part-of or version",messageExpression="'spec.podTemplate.metadata.labels: key ' + self.filter(k, !(!(k in ['app.kubernetes.io/name','app.kubernetes.io/instance','pod-template-hash','controller-revision-hash']) && !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && (k.startsWith('app.kubernetes.io/') || !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/'))))[0] + ' is reserved: remove it; use a domain of your own, or app.kubernetes.io/component, part-of or version'"
	// +optional
	Labels map[string]Label `json:"labels,omitempty"`

	// Annotations of the pods. They win over podAnnotations.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/'))",message="spec.podTemplate.metadata.annotations must not have keys that begin with app.example.com/, helm.sh/ or meta.helm.sh/: the operator and Helm set them"
	// +optional
	Annotations map[string]Annotation `json:"annotations,omitempty"`
}

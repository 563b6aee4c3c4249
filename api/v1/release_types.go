package v1

import corev1 "k8s.io/api/core/v1"

// ReleaseTask runs before a new version: once for each change of image, config, envs, envFrom or of its own
// fields; never because of size, labels, a new chart, defaults or a rotated Secret. It has the image, the environment,
// the account, the security context, the volumes and the place of the application, of podTemplate runtimeClassName and
// hostUsers, and nothing reaches it. One that failed runs again with the annotation app.example.com/restarted-at
// (kubectl appservice restart); one that succeeded never does.
type ReleaseTask struct {
	// Command runs in place of the image's entry point, for example [bin/rails, db:migrate].
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=32768
	Command []string `json:"command"`

	// Args are its arguments.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=32768
	// +optional
	Args []string `json:"args,omitempty"`

	// Resources that it requests and may use at most.
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || ['cpu','memory','ephemeral-storage'].all(r, !(r in self.requests) || !(r in self.limits) || [self.requests[r], self.limits[r]].exists(q, string(q).contains('e') || string(q).contains('E')) || !quantity(string(self.requests[r])).isGreaterThan(quantity(string(self.limits[r]))))",message="spec.release.resources.requests must not exceed spec.release.resources.limits (cpu, memory, ephemeral-storage)"
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// TimeoutSeconds is the time after which it is ended and has failed, for all attempts together. Defaults to 3600.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`

	// Retries is how often it is tried again after it failed. Defaults to 0.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Retries *int32 `json:"retries,omitempty"`

	// Persistence mounts the volumes of spec.persistence and spec.claims whose accessModes have ReadWriteMany, unless they
	// are per replica; no other can be mounted while the previous version has it. Defaults to true if there is one.
	// +optional
	Persistence *bool `json:"persistence,omitempty"`
}

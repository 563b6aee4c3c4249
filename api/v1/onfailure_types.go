package v1

// OnFailure decides about a release that fails for a cause of its own: an image that does not exist, crashes, too
// little memory, probes that fail, a rollout that passes its deadline. Whatever is not of the release, such as a quota,
// nodes or a registry that is away, never leads back.
//
// +kubebuilder:validation:XValidation:rule="!self.?afterTask.orValue(false) || self.?action.orValue('Keep') == 'Return'",message="spec.onFailure.afterTask needs spec.onFailure.action Return: set that, or leave afterTask out"
type OnFailure struct {
	// Action is Keep, which leaves the release that failed, or Return, which applies the last release that was Ready
	// again. The spec stays as it is, and is tried again when it changes, or with the annotation
	// app.example.com/restarted-at. Defaults to Keep.
	// +kubebuilder:validation:Enum=Keep;Return
	// +optional
	Action OnFailureAction `json:"action,omitempty"`

	// AfterTask returns also after a task of the release that failed has run, which the return does not take back. It
	// needs the action Return.
	// +optional
	AfterTask bool `json:"afterTask,omitempty"`
}

// OnFailureAction is the answer to a release that failed.
type OnFailureAction string

// The answers.
const (
	// OnFailureKeep leaves the release that failed.
	OnFailureKeep OnFailureAction = "Keep"
	// OnFailureReturn applies the last release again that was Ready.
	OnFailureReturn OnFailureAction = "Return"
)

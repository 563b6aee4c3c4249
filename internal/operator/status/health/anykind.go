package health

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// computed returns the state that kstatus computes from the fields that most kinds have in common: observedGeneration
// and conditions.
func computed(object client.Object) State {
	content, full := kube.Content(object)
	if !full {
		return State{}
	}
	result, err := kstatus.Compute(&unstructured.Unstructured{Object: content})
	switch {
	case err != nil:
		return State{Verdict: Waiting, Message: "the status cannot be read: " + err.Error()}
	case result.Status == kstatus.CurrentStatus:
		return State{}
	case result.Status == kstatus.FailedStatus:
		return State{Verdict: Stuck, Message: result.Message}
	}
	return State{Verdict: Waiting, Message: result.Message}
}

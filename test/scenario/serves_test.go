//go:build cluster

package scenario

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pulse is whether a Deployment had a pod that was available, in each state that a watch showed since it was first asked.
type pulse struct{ wrong []string }

// serves expects the Deployment of a namespace to have an available pod from now on.
func (w *world) serves(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pulses[namespace] = &pulse{}
}

// failedToServe lists the states in which the Deployment of a namespace had no available pod.
func (w *world) failedToServe(namespace string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.pulses[namespace]; p != nil {
		return p.wrong
	}
	return nil
}

// notePulse processes an event of a Deployment.
func (w *world) notePulse(object *unstructured.Unstructured, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pulses[object.GetNamespace()]
	if p == nil || object.GetKind() != "Deployment" {
		return
	}
	available, _, _ := unstructured.NestedInt64(object.Object, "status", "availableReplicas")
	if gone || available == 0 {
		p.wrong = append(p.wrong, fmt.Sprintf("at version %s of its Deployment, with %s, deleted: %t", object.GetResourceVersion(), imageIn(object), gone))
	}
}

// imageIn returns the image of the first container of a Deployment or Job.
func imageIn(of *unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(of.Object, "spec", "template", "spec", "containers")
	container, _ := containers[0].(map[string]any)
	return fmt.Sprint(container["image"])
}

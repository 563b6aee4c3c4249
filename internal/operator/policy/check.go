package policy

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// Check returns an Error if the policy does not allow rendered objects.
func (r Rules) Check(objects []*unstructured.Unstructured) error {
	if found := r.violations(objects); len(found) > 0 {
		return &Error{Namespace: objects[0].GetNamespace(), Violations: found}
	}
	return nil
}

func (r Rules) violations(objects []*unstructured.Unstructured) (found []Violation) {
	if r.rules == nil {
		return nil
	}
	for _, object := range objects {
		c := &check{rules: r.rules, object: object}
		c.metadata(object.GetKind(), object.Object)
		c.sizes(objects)
		c.network()
		c.claims()
		c.pods()
		found = append(found, c.found...)
	}
	return found
}

// pods checks the pods that an object creates, if its pod templates can be decoded; other checks report one that
// cannot. Earlier versions knew those of built-in kinds only.
func (c *check) pods() {
	templates := []map[string]any{reference.PodTemplate(c.object)}
	if !c.choice.earlier {
		templates = append(templates, reference.ForeignPodTemplate(c.object))
	}
	for _, content := range templates {
		if content == nil {
			continue
		}
		if !reference.IsPod(c.object) { // whose own metadata have been checked
			c.metadata("Pod", content)
		}
		c.ephemeral(content)
		var pod corev1.PodTemplateSpec
		if runtime.DefaultUnstructuredConverter.FromUnstructured(content, &pod) == nil {
			c.pod(&pod.Spec)
		}
	}
}

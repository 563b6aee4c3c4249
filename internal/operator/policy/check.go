package policy

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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

// check is the check of one object.
type check struct {
	*rules
	object *unstructured.Unstructured
	found  []Violation
}

// refuse records a violation of a rule, which allow would allow.
func (c *check) refuse(path, value, rule, allows string, allow any) {
	c.found = append(c.found, Violation{Kind: c.object.GetKind(), Name: c.object.GetName(), Path: path, Value: value,
		Refusal: c.refusal(rule, allows, allow)})
}

// allowed refuses a value that a list does not allow.
func (c *check) allowed(path, value, rule string, list []string, may bool) {
	if !may {
		c.refuse(path, cmp.Or(value, `""`), rule, "allows "+shown(list), missing(value))
	}
}

func (c *check) namespace() string { return c.object.GetNamespace() }

func (c *check) text(path ...string) string {
	value, _, _ := unstructured.NestedString(c.object.Object, path...)
	return value
}

// number returns a whole number of a field, and whether it is set.
func (c *check) number(path ...string) (value int64, there bool) {
	found, _, _ := unstructured.NestedFieldNoCopy(c.object.Object, path...)
	switch number := found.(type) {
	case int64:
		return number, true
	case float64:
		return int64(number), true
	}
	return 0, false
}

// list returns a list of a field, shared with the object.
func (c *check) list(path ...string) []any {
	value, _, _ := unstructured.NestedFieldNoCopy(c.object.Object, path...)
	list, _ := value.([]any)
	return list
}

// storage refuses a size beyond the largest.
func (c *check) storage(path string, size resource.Quantity) {
	if size.Cmp(c.MaxStorage.Quantity) > 0 {
		c.refuse(path, size.String(), "maxStorage", "is "+c.MaxStorage.String(), size.String())
	}
}

// atMost refuses a number of replicas beyond the largest.
func (c *check) atMost(path string, value int64) {
	if value > *c.MaxReplicas {
		c.refuse(path, strconv.FormatInt(value, 10), "maxReplicas", "is "+strconv.FormatInt(*c.MaxReplicas, 10), value)
	}
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

package policy

import (
	"cmp"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
func (c *check) number(path ...string) (value int64, found bool) {
	field, _, _ := unstructured.NestedFieldNoCopy(c.object.Object, path...)
	switch number := field.(type) {
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

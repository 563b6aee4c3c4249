package preview

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// Change is the change of an object: Old is nil if it is created, New is nil if it is deleted.
type Change struct {
	Old, New *unstructured.Unstructured
	// Fields are the differences of an object that stays.
	Fields []plan.Difference
}

// Object returns the new object, or the old one if it is deleted.
func (c Change) Object() *unstructured.Unstructured {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

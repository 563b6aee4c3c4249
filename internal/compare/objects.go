package compare

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/release"
)

// Change is the change of an object: Old is nil if it is created, New is nil if it is deleted.
type Change struct {
	Old, New *unstructured.Unstructured
	// Fields are the differences of an object that stays.
	Fields []release.Difference
}

// Object returns the new object, or the old one if it is deleted.
func (c Change) Object() *unstructured.Unstructured {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

// Changes lists the objects that differ between two renderings: those that exist afterwards first, in the order in which they are
// applied.
func Changes(old, rendered []*unstructured.Unstructured) []Change {
	var list []Change
	there := byKey(old)
	for _, object := range rendered {
		before := there[kube.KeyOf(object)]
		if before == nil {
			list = append(list, Change{New: object})
		} else if fields := release.Differences(before, object); len(fields) > 0 {
			list = append(list, Change{Old: before, New: object, Fields: fields})
		}
	}
	wanted := byKey(rendered)
	for _, object := range old {
		if wanted[kube.KeyOf(object)] == nil {
			list = append(list, Change{Old: object})
		}
	}
	return list
}

func byKey(objects []*unstructured.Unstructured) map[kube.Key]*unstructured.Unstructured {
	found := make(map[kube.Key]*unstructured.Unstructured, len(objects))
	for _, object := range objects {
		found[kube.KeyOf(object)] = object
	}
	return found
}

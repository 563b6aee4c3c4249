package preview

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/operator/status"
)

// retained returns the objects that the status of a resource calls kept for their data, although no release has them,
// as in "Secret web-generated"; nil if it cannot be read.
func retained(resource *unstructured.Unstructured) (list []string) {
	current, err := status.Of(resource)
	if err != nil {
		return nil
	}
	for _, object := range current.Resources {
		if object.Message == status.KeptData {
			list = append(list, object.Kind+" "+object.Name)
		}
	}
	return list
}

// unneeded returns the kept objects that are not among others, and that none of these refers to: a release of a
// changed spec deletes them.
func unneeded(kept []string, objects []*unstructured.Unstructured) []string {
	used := map[string]bool{}
	for _, object := range objects {
		used[kube.KeyOf(object).String()] = true
	}
	for _, needed := range reference.Of(objects) {
		used[needed.Kind+" "+needed.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(kept), func(name string) bool { return used[name] })
}

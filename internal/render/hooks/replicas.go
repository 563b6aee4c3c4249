package hooks

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube"
)

// Replicas returns a hook that sets the number of replicas of some workloads which render one.
func Replicas(numbers map[kube.Key]int64) Hook {
	return func(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
		for _, object := range objects {
			number, known := numbers[kube.KeyOf(object)]
			if _, rendered, _ := unstructured.NestedInt64(object.Object, "spec", "replicas"); !known || !rendered {
				continue
			}
			if err := unstructured.SetNestedField(object.Object, number, "spec", "replicas"); err != nil {
				return notValid(object, err)
			}
		}
		return nil
	}
}

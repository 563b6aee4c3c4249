package hooks

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube"
)

// Sizes gives workloads of an earlier release the number of replicas that they are rendered with at present, if both
// have one: sizes do not return with an earlier release. Those of an autoscaler have none.
func Sizes(present []*unstructured.Unstructured) Hook {
	by := kube.ByKey(present)
	return func(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
		for _, object := range objects {
			_, had, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "replicas")
			now := by[kube.KeyOf(object)]
			if !had || now == nil {
				continue
			}
			if size, has, _ := unstructured.NestedFieldNoCopy(now.Object, "spec", "replicas"); has {
				if err := unstructured.SetNestedField(object.Object, size, "spec", "replicas"); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

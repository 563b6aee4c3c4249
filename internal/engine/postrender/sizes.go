package postrender

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
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

// ClaimSizes gives claims of an earlier release, and the claim templates of its workloads, the size that they are
// rendered with at present: a claim that has grown never shrinks, and what it belongs to could not be applied.
func ClaimSizes(present []*unstructured.Unstructured) Hook {
	by := kube.ByKey(present)
	return func(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
		for _, object := range objects {
			now := by[kube.KeyOf(object)]
			if now == nil {
				continue
			}
			if object.GetKind() == kube.RetainedKind {
				takeStorage(object.Object, now.Object)
				continue
			}
			templates := claimTemplates(object)
			for _, template := range claimTemplates(now) {
				for _, earlier := range templates {
					if nameOf(earlier) == nameOf(template) {
						takeStorage(earlier, template)
					}
				}
			}
		}
		return nil
	}
}

func nameOf(content map[string]any) string {
	return (&unstructured.Unstructured{Object: content}).GetName()
}

// takeStorage sets the storage that a claim requests to that of another, if both request any.
func takeStorage(claim, other map[string]any) {
	requests, _, _ := unstructured.NestedFieldNoCopy(claim, "spec", "resources", "requests")
	size, has, _ := unstructured.NestedString(other, "spec", "resources", "requests", "storage")
	if into, _ := requests.(map[string]any); into["storage"] != nil && has {
		into["storage"] = size
	}
}

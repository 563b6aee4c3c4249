package postrender

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Labels adds the label that the operator's caches select by. It is never part of a pod template or a selector.
func Labels(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		object.SetLabels(labels.Merge(object.GetLabels(), map[string]string{v1.LabelManaged: "true"}))
	}
	return nil
}

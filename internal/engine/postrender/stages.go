package postrender

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// Stages checks the stages of objects, and marks the objects to which those of the stage `before` refer as early: these
// are created with them.
func Stages(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
	var needed []reference.Reference
	for _, object := range objects {
		if err := stage.Check(object); err != nil {
			return &ObjectError{object, err}
		}
		if stage.Of(object) == stage.Before {
			needed = append(needed, reference.ByPods(object)...)
		}
	}
	for _, object := range objects {
		of := reference.Object{Kind: object.GetKind(), Name: object.GetName()}
		isNeeded := slices.ContainsFunc(needed, func(r reference.Reference) bool { return r.Object == of })
		if isNeeded && stage.Of(object) != stage.Before {
			object.SetAnnotations(labels.Merge(object.GetAnnotations(),
				map[string]string{v1.AnnotationStage: string(stage.Early)}))
		}
	}
	return nil
}

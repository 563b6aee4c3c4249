package postrender

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// Restart copies the owner's restart annotation to the pods: a new value rolls them.
func Restart(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	restarted := in.Owner.GetAnnotations()[v1.AnnotationRestartedAt]
	if restarted == "" {
		return nil
	}
	for _, object := range objects {
		if template := reference.PodTemplate(object); template != nil {
			annotatePods(template, v1.AnnotationRestartedAt, restarted)
		}
	}
	return nil
}

// Restarts sets what restarts the pods of objects that have been through all hooks before. Those of a Job never change.
func Restarts(ctx context.Context, in *Input, objects []*unstructured.Unstructured) error {
	objects = slices.DeleteFunc(slices.Clone(objects),
		func(o *unstructured.Unstructured) bool { return o.GetKind() == "Job" })
	for _, object := range objects {
		if template := reference.PodTemplate(object); template != nil {
			unstructured.RemoveNestedField(template, "metadata", "annotations", v1.AnnotationRestartedAt)
		}
	}
	annotateGenerated(in, objects)
	return errors.Join(Restart(ctx, in, objects), Reload(ctx, in, objects))
}

package postrender

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/dependency"
)

// AnnotationReferences is the annotation of a pod template that holds the version of the content of all ConfigMaps and Secrets that the
// objects refer to and do not bring along: when the content changes, the pods roll. It is no digest of the content, which would let everybody
// who may read pods test guesses at a value and see when an earlier one is back.
const AnnotationReferences = "app.example.com/references-version"

// unknownContent stands for the version where the cluster is not known.
const unknownContent = "unknown"

// Reload gives the pods of each object that asks for it, by annotation, the version of the content that it refers to.
func Reload(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	if !dependency.TakesContent(in.References) {
		return nil
	}
	for _, object := range objects {
		if object.GetAnnotations()[v1.AnnotationReload] != "true" {
			continue
		}
		if template := dependency.PodTemplate(object); template != nil {
			annotatePods(template, AnnotationReferences, cmp.Or(in.Facts.Content, unknownContent))
		}
	}
	return nil
}

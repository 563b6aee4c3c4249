package postrender

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// AnnotationReferences is the annotation of a pod template that holds the version of the content of all ConfigMaps and
// Secrets that the objects refer to and do not contain: when the content changes, the pods roll. It is not a digest of
// the content, with which anyone who may read pods could test guesses at a value and detect that an earlier one is
// back.
const AnnotationReferences = "app.example.com/references-version"

// unknownContent stands for the version if the cluster is not known.
const unknownContent = "unknown"

// Reload annotates the pods of each object that requests it, by annotation, with the version of the content that it
// refers to.
func Reload(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	if !reference.TakesContent(in.References) {
		return nil
	}
	for _, object := range objects {
		if object.GetAnnotations()[v1.AnnotationReload] != "true" {
			continue
		}
		if template := reference.PodTemplate(object); template != nil {
			annotatePods(template, AnnotationReferences, cmp.Or(in.Facts.Content, unknownContent))
		}
	}
	return nil
}

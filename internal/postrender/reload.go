package postrender

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/dependency"
)

// AnnotationReferences is the annotation of a pod template that holds a digest of the content of all ConfigMaps and
// Secrets that the objects refer to and do not bring along: when one changes, the pods roll.
const AnnotationReferences = "app.example.com/references-checksum"

// unknownContent stands for the digest where the cluster is not known.
const unknownContent = "unknown"

// Reload gives the pods of each object that asks for it, by annotation, the digest of the content that it refers to.
func Reload(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	checksum := dependency.Checksum(in.References, in.Facts.There)
	if checksum == "" {
		return nil
	}
	if in.Facts.There == nil {
		checksum = unknownContent
	}
	for _, object := range objects {
		if object.GetAnnotations()[v1.AnnotationReload] != "true" {
			continue
		}
		if template := dependency.PodTemplate(object); template != nil {
			annotatePods(template, AnnotationReferences, checksum)
		}
	}
	return nil
}

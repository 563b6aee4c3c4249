package postrender

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/example/appservice-operator/api/v1"
)

// changeable are the fields of a Job's spec that the API server allows to change.
var changeable = []string{"activeDeadlineSeconds", "backoffLimit", "parallelism", "suspend", "ttlSecondsAfterFinished"}

// digestLength is the length of the digest in a name.
const digestLength = 8

// Rerun appends to the name of each Job that requests it, by annotation, a digest of its immutable fields: if they are rendered
// differently, another Job runs, and the previous one is deleted. It comes after all hooks that change pods.
func Rerun(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if object.GetAnnotations()[v1.AnnotationRerun] != "true" {
			continue
		}
		if object.GetKind() != "Job" || object.GroupVersionKind().Group != batchv1.GroupName {
			return &ObjectError{object, errors.New("has the annotation " + v1.AnnotationRerun + ", which is for Jobs: remove it")}
		}
		spec, _, _ := unstructured.NestedMap(object.Object, "spec")
		maps.DeleteFunc(spec, func(field string, _ any) bool { return slices.Contains(changeable, field) })
		content, err := json.Marshal(spec)
		if err != nil {
			return notValid(object, err)
		}
		sum := sha256.Sum256(content)
		name := object.GetName()
		name = name[:min(len(name), validation.LabelValueMaxLength-digestLength-1)] // pods have it as a label
		object.SetName(name + "-" + hex.EncodeToString(sum[:])[:digestLength])
	}
	return nil
}

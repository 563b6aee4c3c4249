package postrender

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	named "github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// ImageError reports an image whose name no image can have.
type ImageError struct {
	// Field of the spec that has the image; if none does, the container.
	Field, Image string
	Err          error
}

func (e *ImageError) Error() string {
	why := strings.TrimPrefix(e.Err.Error(), named.ErrReferenceInvalidFormat.Error()+": ")
	return fmt.Sprintf("%s: %q is not a valid image name: %s", e.Field, e.Image, why)
}

// Reason returns the reason of Ready.
func (e *ImageError) Reason() string { return v1.ReasonImageNameInvalid }

// Hint names the field.
func (e *ImageError) Hint() string {
	return fmt.Sprintf("correct %s: REGISTRY/REPOSITORY:TAG without https://, with a repository in lower case", e.Field)
}

// OfSpec reports whether the spec has the image, rather than the chart or defaults.
func (e *ImageError) OfSpec() bool { return strings.HasPrefix(e.Field, "spec.") }

// Images refuses images with a name that no node can pull: the policy would take it for a registry that is not allowed.
// Where no policy is known, as in an import, it may be a placeholder.
func Images(_ context.Context, in *Input, objects []*unstructured.Unstructured) (err error) {
	if in.Facts.Policy == nil {
		return nil
	}
	for _, object := range objects {
		template := reference.PodTemplate(object)
		check := func(at string, image string) {
			if _, wrong := named.ParseNormalizedNamed(image); wrong != nil && image != "" && err == nil {
				field := fieldWith("spec", in.Owner.Object["spec"], image)
				if field == "" {
					field = fmt.Sprintf("%s of %s %q", at, object.GetKind(), object.GetName())
				}
				err = &ImageError{field, image, wrong}
			}
		}
		eachContainer(template, func(container map[string]any) {
			image, _ := container["image"].(string)
			check(fmt.Sprintf("container %v", container["name"]), image)
		})
		volumes, _, _ := unstructured.NestedSlice(template, "spec", "volumes")
		for _, volume := range volumes {
			content, _ := volume.(map[string]any)
			image, _, _ := unstructured.NestedString(content, "image", "reference")
			check(fmt.Sprintf("volume %v", content["name"]), image)
		}
	}
	return err
}

// fieldWith returns the field of an image in a spec; empty if none has it.
func fieldWith(field string, value any, image string) string {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if (key == "image" || key == "reference") && value[key] == image {
				return field + "." + key
			}
			if found := fieldWith(field+"."+key, value[key], image); found != "" {
				return found
			}
		}
	case []any:
		for i, item := range value {
			if found := fieldWith(fmt.Sprintf("%s[%d]", field, i), item, image); found != "" {
				return found
			}
		}
	}
	return ""
}

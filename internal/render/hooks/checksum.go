package hooks

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/digest"
	"github.com/example/appservice-operator/internal/kube/reference"
)

// AnnotationChecksum is the annotation of a pod template with the checksum of the configuration that a chart renders:
// when that changes, the pods roll.
const AnnotationChecksum = "app.example.com/config-checksum"

// Checksum replaces checksums of values that are rendered into Secrets, with which anyone who may read pods could test
// guesses, by the version of the configuration: it changes whenever they do. If the version is not known, they stay.
func Checksum(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	for _, template := range revealing(objects) {
		if in.Facts.Configuration != "" {
			annotatePods(template, AnnotationChecksum, in.Facts.Configuration)
		}
	}
	return nil
}

// ConfigurationOf returns a digest of the checksums that Checksum replaces: 32 hexadecimal characters; empty if there
// are none.
func ConfigurationOf(objects []*unstructured.Unstructured) string {
	var all []string
	for _, template := range revealing(objects) {
		all = append(all, checksumOf(template))
	}
	if len(all) == 0 {
		return ""
	}
	return digest.Of([]byte(strings.Join(all, "\n")))[:32]
}

// revealing returns the pod templates with a checksum that take the content of a Secret among some objects.
func revealing(objects []*unstructured.Unstructured) (templates []map[string]any) {
	var secrets []string
	for _, object := range objects {
		if object.GetKind() == reference.Secret && object.GetAPIVersion() == "v1" {
			secrets = append(secrets, object.GetName())
		}
	}
	for _, object := range objects {
		takes := func(r reference.Reference) bool {
			return r.Kind == reference.Secret && r.Content && slices.Contains(secrets, r.Name)
		}
		template := reference.PodTemplate(object)
		if len(secrets) > 0 && checksumOf(template) != "" && slices.ContainsFunc(reference.ByPods(object), takes) {
			templates = append(templates, template)
		}
	}
	return templates
}

func checksumOf(template map[string]any) string {
	checksum, _, _ := unstructured.NestedString(template, "metadata", "annotations", AnnotationChecksum)
	return checksum
}

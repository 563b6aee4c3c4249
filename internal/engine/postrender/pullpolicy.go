package postrender

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// PullPolicy sets the pull policy of each container's image as the API server would. A policy set by the API server for
// the first image would stay when the image changes: no manager owns it then, and an old "latest" would continue to
// run.
func PullPolicy(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		eachContainer(reference.PodTemplate(object), func(container map[string]any) {
			image, _ := container["image"].(string)
			unlessSet(container, "imagePullPolicy", string(pullPolicy(image)))
		})
	}
	return nil
}

// pullPolicy returns the API server's default for an image: Always if it has the tag latest, or neither tag nor digest.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, digested := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	if tag == "latest" || !tagged && !digested {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

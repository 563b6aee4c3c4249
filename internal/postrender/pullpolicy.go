package postrender

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/reference"
)

// PullPolicy says of each container when its image is pulled, as the API server would. Left to the API server, the policy of the first image
// would stay when the image changes: it belongs to nobody then, and "latest" would run as it once was.
func PullPolicy(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		pod, _, _ := unstructured.NestedFieldNoCopy(reference.PodTemplate(object), "spec")
		spec, ok := pod.(map[string]any)
		if !ok {
			continue
		}
		for _, list := range []string{"initContainers", "containers"} {
			containers, _ := spec[list].([]any)
			for _, item := range containers {
				if container, ok := item.(map[string]any); ok {
					image, _ := container["image"].(string)
					unlessSet(container, "imagePullPolicy", string(pullPolicy(image)))
				}
			}
		}
	}
	return nil
}

// pullPolicy is the one that the API server gives an image: Always if it has the tag latest, or neither tag nor digest.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, digested := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	if tag == "latest" || !tagged && !digested {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

package chart

import (
	"fmt"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/pod-security-admission/api"

	v1 "github.com/example/appservice-operator/api/v1"
)

// AnnotationPodSecurity is the annotation of a chart, in Chart.yaml, with the minimum level of the Pod Security
// Standards for its pods: privileged, baseline or restricted. Without it, that is what their namespace enforces, else
// baseline.
const AnnotationPodSecurity = v1.AnnotationPodSecurity

// PodSecurity returns that level; empty if the chart does not set it.
func PodSecurity(c *chart.Chart) (api.Level, error) {
	level := api.Level(c.Metadata.Annotations[AnnotationPodSecurity])
	if level != "" && !level.Valid() {
		return "", fmt.Errorf("annotation %s of Chart.yaml is %q: must be privileged, baseline or restricted",
			AnnotationPodSecurity, level)
	}
	return level, nil
}

package chart

import (
	"cmp"
	"fmt"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/pod-security-admission/api"
)

// AnnotationPodSecurity is the annotation of a chart, in Chart.yaml, with the least level of the Pod Security Standards that
// its pods have to meet: privileged, baseline (the default) or restricted.
const AnnotationPodSecurity = "app.example.com/pod-security"

// PodSecurity gives that level.
func PodSecurity(c *chart.Chart) (api.Level, error) {
	level := api.Level(cmp.Or(c.Metadata.Annotations[AnnotationPodSecurity], string(api.LevelBaseline)))
	if !level.Valid() {
		return "", fmt.Errorf("annotation %s of Chart.yaml is %q: it must be privileged, baseline or restricted", AnnotationPodSecurity, level)
	}
	return level, nil
}

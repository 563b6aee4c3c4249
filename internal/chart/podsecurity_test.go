package chart

import (
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/pod-security-admission/api"
)

func TestPodSecurity(t *testing.T) {
	for value, want := range map[string]api.Level{"": "baseline", "privileged": "privileged", "restricted": "restricted", "Baseline": "", "none": ""} {
		c := &chart.Chart{Metadata: &chart.Metadata{Annotations: map[string]string{AnnotationPodSecurity: value}}}
		got, err := PodSecurity(c)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", value, got, err, want)
		}
	}
}

package chart

import (
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/pod-security-admission/api"
)

func TestPodSecurity(t *testing.T) {
	cases := map[string]struct {
		value string
		want  api.Level
		fails bool
	}{
		"nothing is said":       {"", "", false},
		"the loosest":           {"privileged", "privileged", false},
		"the default, outright": {"baseline", "baseline", false},
		"the strictest":         {"restricted", "restricted", false},
		"a level in capitals":   {"Baseline", "", true},
		"no level":              {"none", "", true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			c := &chart.Chart{Metadata: &chart.Metadata{Annotations: map[string]string{AnnotationPodSecurity: test.value}}}
			got, err := PodSecurity(c)
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("got %q, %v, want %q, fails %t", got, err, test.want, test.fails)
			}
		})
	}
}

package v1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestReservedKeys holds what is reserved to what the chart, Helm, the operator and the controllers of pods set themselves: everything
// else is the user's, the rest of app.kubernetes.io/ included.
func TestReservedKeys(t *testing.T) {
	fields := map[string]string{ // specs by the field that holds the key
		"spec.podLabels":         `{image: a, podLabels: {"%s": b}}`,
		"spec.podAnnotations":    `{image: a, podAnnotations: {"%s": b}}`,
		"spec.commonLabels":      `{image: a, commonLabels: {"%s": b}}`,
		"spec.monitoring.labels": `{image: a, ports: [{port: 1}], monitoring: {enabled: true, labels: {"%s": b}}}`,
	}
	const pods, annotations, objects, monitors = "spec.podLabels", "spec.podAnnotations", "spec.commonLabels", "spec.monitoring.labels"
	tests := map[string][]string{ // the fields that refuse a key
		"app.kubernetes.io/component":        nil,
		"app.kubernetes.io/part-of":          nil,
		"app.kubernetes.io/version":          nil,
		"app.kubernetes.io/name-of-mine":     nil,
		"team":                               nil,
		"prometheus.io/scrape":               nil,
		"app.kubernetes.io/name":             {pods, objects, monitors},
		"app.kubernetes.io/instance":         {pods, objects, monitors},
		"app.kubernetes.io/managed-by":       {objects, monitors},
		"app.example.com/managed":            {pods, annotations, objects, monitors},
		"helm.sh/chart":                      {pods, annotations, objects, monitors},
		"pod-template-hash":                  {pods, objects},
		"controller-revision-hash":           {pods, objects},
		"apps.kubernetes.io/pod-index":       {pods, objects},
		"statefulset.kubernetes.io/pod-name": {pods, objects},
		"batch.kubernetes.io/job-name":       {pods, objects},
	}
	a := newAdmission(t)
	for key, refusedBy := range tests {
		for field, spec := range fields {
			t.Run(key+" in "+field, func(t *testing.T) {
				_, _, err := a.admit(t, named(t, "web", fmt.Sprintf(spec, key)))
				switch refused := slices.Contains(refusedBy, field); {
				case refused != (err != nil):
					t.Errorf("got error %v, want it refused: %t", err, refused)
				case refused && !strings.Contains(err.Error(), field+" must not have"):
					t.Errorf("the error does not name the field: %v", err)
				}
			})
		}
	}
}

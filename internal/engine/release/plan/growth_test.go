package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAClaimMayHaveGrown(t *testing.T) {
	claim := func(stamp, size string) *unstructured.Unstructured {
		o := owned(t, "PersistentVolumeClaim", "web", stamp)
		put(t, o, map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size}}}, "spec")
		return o
	}
	moved := claim("one", "2Gi")
	moved.SetLabels(map[string]string{"app.kubernetes.io/instance": "other"})
	labeled := claim("one", "1Gi")
	labeled.SetLabels(map[string]string{"app.kubernetes.io/instance": "web"})
	cases := map[string]struct {
		desired, live *unstructured.Unstructured
		want, size    string
	}{
		"as rendered":                    {claim("one", "1Gi"), claim("one", "1Gi"), "", ""},
		"somebody grew it":               {claim("one", "1Gi"), claim("one", "2Gi"), "", ""},
		"it is smaller":                  {claim("one", "10Gi"), claim("one", "9Gi"), "apply PersistentVolumeClaim web: spec.resources.requests.storage 9Gi → 10Gi", "10Gi"},
		"the spec asks for less":         {claim("two", "1Gi"), claim("one", "2Gi"), "apply PersistentVolumeClaim web: spec.resources.requests.storage 2Gi → 1Gi", "1Gi"},
		"it grew and a label was edited": {labeled, moved, "apply PersistentVolumeClaim web: metadata.labels.app.kubernetes.io/instance other → web", "2Gi"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			plan := Compare([]*unstructured.Unstructured{test.desired}, there(test.live))
			if got := plan.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if len(plan.Apply) == 0 {
				return
			}
			if size, _, _ := unstructured.NestedString(plan.Apply[0].Desired.Object, "spec", "resources", "requests", "storage"); size != test.size {
				t.Errorf("got size %s, want %s", size, test.size)
			}
		})
	}
}

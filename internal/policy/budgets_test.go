package policy

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestABudgetLetsAPodGo(t *testing.T) {
	cases := map[string]struct {
		budget, workload string
		blocks           bool
	}{
		"a share that rounds up to all":       {"{minAvailable: 99%}", deployment + "{replicas: 3}", true},
		"three quarters of three":             {"{minAvailable: 75%}", deployment + "{replicas: 3}", true},
		"three quarters of four":              {"{minAvailable: 75%}", deployment + "{replicas: 4}", false},
		"half of two":                         {"{minAvailable: 50%}", deployment + "{replicas: 2}", false},
		"half of one":                         {"{minAvailable: 50%}", deployment + "{replicas: 1}", false},
		"one of one":                          {"{minAvailable: 1}", deployment + "{}", false},
		"two of two":                          {"{minAvailable: 2}", stateful + "{replicas: 2}", true},
		"two of three":                        {"{minAvailable: 2}", stateful + "{replicas: 3}", false},
		"three quarters of up to ten":         {"{minAvailable: 75%}", scaler + "{minReplicas: 3, maxReplicas: 10}", false},
		"a share that rounds up to all of it": {"{minAvailable: 95%}", scaler + "{minReplicas: 3, maxReplicas: 10}", true},
		"nearly all of what KEDA may make":    {"{minAvailable: 99%}", scaled + "{}", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := []*unstructured.Unstructured{object(t, budget+tc.budget), object(t, tc.workload)}
			if err := Default().For("demo", nil).Check(objects); (err != nil) != tc.blocks {
				t.Errorf("got error %v, want one: %t", err, tc.blocks)
			}
			if err := rulesOf(t, "builtIn: open", "demo", nil).Check(objects); err != nil {
				t.Errorf("open refuses it: %v", err)
			}
		})
	}
}

package policy

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestABudgetLetsAPodGo(t *testing.T) {
	cases := map[string]struct {
		budget, workload string
		blocks           bool
	}{
		"a share that rounds up to all":       {"{minAvailable: 99%}", deployment + "{replicas: 3, template: {}}", true},
		"three quarters of three":             {"{minAvailable: 75%}", deployment + "{replicas: 3, template: {}}", true},
		"three quarters of four":              {"{minAvailable: 75%}", deployment + "{replicas: 4, template: {}}", false},
		"half of two":                         {"{minAvailable: 50%}", deployment + "{replicas: 2, template: {}}", false},
		"half of one":                         {"{minAvailable: 50%}", deployment + "{replicas: 1, template: {}}", false},
		"one of one":                          {"{minAvailable: 1}", deployment + "{template: {}}", false},
		"two of one, which were three before": {"{minAvailable: 2}", deployment + "{replicas: 1, template: {}}", false},
		"two of none, which sleeps":           {"{minAvailable: 2}", deployment + "{replicas: 0, template: {}}", false},
		"two of two":                          {"{minAvailable: 2}", stateful + "{replicas: 2, template: {}}", true},
		"two of three":                        {"{minAvailable: 2}", stateful + "{replicas: 3, template: {}}", false},
	}
	target := "scaleTargetRef: {kind: Deployment, name: web}, "
	for name, tc := range map[string]struct {
		budget, scaler string
		blocks         bool
	}{
		"one of two at least":                 {"{minAvailable: 1}", scaler + "{" + target + "minReplicas: 2, maxReplicas: 100}", false},
		"99 of two to a hundred":              {"{minAvailable: 99}", scaler + "{" + target + "minReplicas: 2, maxReplicas: 100}", true},
		"three quarters of three to ten":      {"{minAvailable: 75%}", scaler + "{" + target + "minReplicas: 3, maxReplicas: 10}", true},
		"two thirds of three to ten":          {"{minAvailable: 66%}", scaler + "{" + target + "minReplicas: 3, maxReplicas: 10}", false},
		"one of one to ten":                   {"{minAvailable: 1}", scaler + "{" + target + "maxReplicas: 10}", false},
		"nearly all of what KEDA may make":    {"{minAvailable: 99%}", scaled + "{scaleTargetRef: {name: web}}", false},
		"two of what KEDA makes from nothing": {"{minAvailable: 2}", scaled + "{scaleTargetRef: {name: web}}", true},
		"two of ten, beside another's scaler": {"{minAvailable: 2}", scaler + "{scaleTargetRef: {kind: Deployment, name: other}, minReplicas: 1}", false},
	} {
		cases[name+", scaled"] = struct {
			budget, workload string
			blocks           bool
		}{tc.budget, deployment + "{replicas: 10, template: {}}\n---\n" + tc.scaler, tc.blocks}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := []*unstructured.Unstructured{object(t, budget+tc.budget)}
			for each := range strings.SplitSeq(tc.workload, "\n---\n") {
				objects = append(objects, object(t, each))
			}
			if err := Default().For("demo", nil).Check(objects); (err != nil) != tc.blocks {
				t.Errorf("got error %v, want one: %t", err, tc.blocks)
			}
			if err := rulesOf(t, "builtIn: open", "demo", nil).Check(objects); err != nil {
				t.Errorf("open refuses it: %v", err)
			}
		})
	}
}

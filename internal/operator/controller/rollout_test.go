package controller

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// deployedAt is a status that reports whether the release of a generation is deployed.
func deployedAt(generation int64, status metav1.ConditionStatus) *v1.AppServiceStatus {
	return &v1.AppServiceStatus{ObservedGeneration: generation, Release: &v1.ReleaseStatus{Revision: 1}, Conditions: []metav1.Condition{
		{Type: v1.ConditionDeployed, Status: status, ObservedGeneration: generation},
	}}
}

// running is a Deployment of an image, with pods that are available.
func running(image string) *unstructured.Unstructured {
	container := map[string]any{"name": "app", "image": image}
	pod := map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{container}}}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"template": pod},
		"status": map[string]any{"replicas": int64(1), "updatedReplicas": int64(1), "availableReplicas": int64(1)},
	}}
}

// with returns an object with a field.
func with(object *unstructured.Unstructured, value any, path ...string) *unstructured.Unstructured {
	_ = unstructured.SetNestedField(object.Object, value, path...)
	return object
}

// A resource that is held back is called ready if its pods are. That must not hold for pods of an earlier spec, even if
// the present one failed before the operator was restarted.
func TestWhatTakesAPlace(t *testing.T) {
	deployed, upgrade := deployedAt(2, metav1.ConditionTrue), plan.OutOfDate
	restarted := []string{"spec", "template", "metadata", "annotations", v1.AnnotationRestartedAt}
	cases := map[string]struct {
		previous       *v1.AppServiceStatus
		state          plan.State
		live, rendered *unstructured.Unstructured
		waits          bool
	}{
		"a spec that was deployed":         {deployed, upgrade, running("one"), running("two"), true},
		"a spec that is new":               {deployedAt(1, metav1.ConditionTrue), upgrade, running("one"), running("two"), false},
		"a spec that failed before":        {deployedAt(2, metav1.ConditionFalse), upgrade, running("one"), running("two"), false},
		"a resource that is new":           {&v1.AppServiceStatus{}, upgrade, running("one"), running("two"), false},
		"a repair":                         {deployed, plan.Drifted, running("one"), running("two"), false},
		"no replica is available":          {deployed, upgrade, with(running("one"), int64(0), "status", "availableReplicas"), running("two"), true},
		"no replica is wanted":             {deployed, upgrade, with(with(running("one"), int64(0), "status", "availableReplicas"), int64(0), "spec", "replicas"), running("two"), false},
		"a chart that wants some":          {deployed, upgrade, with(with(running("one"), int64(0), "status", "availableReplicas"), int64(0), "spec", "replicas"), with(running("two"), int64(1), "spec", "replicas"), true},
		"only a line goes":                 {deployed, upgrade, with(running("one"), "here", "spec", "template", "spec", "nodeName"), running("one"), true},
		"pods that go on running":          {deployed, upgrade, running("one"), with(running("one"), "new", "metadata", "labels", "chart"), false},
		"a restart that its user asks for": {deployed, upgrade, running("one"), with(running("one"), "now", restarted...), false},
		"a restart, and more":              {deployed, upgrade, running("one"), with(running("two"), "now", restarted...), true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "nginx")
			b.Rollouts.Looked(webName)
			b.Rollouts.Begin(types.NamespacedName{Name: "other"})
			resource := app("web")
			resource.SetGeneration(2)
			s := &scope{resource: resource, previous: test.previous, memory: &remembered{}}
			there := &livestate.Snapshot{Objects: map[kube.Key]client.Object{kube.KeyOf(test.live): test.live}, Record: &livestate.Record{Revision: 1}}
			plan := plan.Compare([]*unstructured.Unstructured{test.rendered}, there.Objects)
			_, may, err := b.begin(t.Context(), s, attempt{state: test.state, plan: plan, observed: there})
			if err != nil || may == test.waits {
				t.Errorf("it may change: %t, %v, want that it waits: %t", may, err, test.waits)
			}
		})
	}
}

func TestTheStageBeforeTakesAPlace(t *testing.T) {
	for name, test := range map[string]struct {
		attempt attempt
		want    bool
	}{
		"the stage before":   {attempt{plan: &plan.Plan{}, hold: hold{by: byStage}}, true},
		"nothing that rolls": {attempt{plan: &plan.Plan{}}, false},
	} {
		if got := test.attempt.isRollout(); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}

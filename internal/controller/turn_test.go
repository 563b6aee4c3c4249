package controller

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/fleet"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/release"
)

// deployedAt is a status that says whether the release of a generation is deployed.
func deployedAt(generation int64, status metav1.ConditionStatus) *v1.AppServiceStatus {
	return &v1.AppServiceStatus{ObservedGeneration: generation, Release: &v1.ReleaseStatus{Revision: 1}, Conditions: []metav1.Condition{
		{Type: v1.ConditionDeployed, Status: status, ObservedGeneration: generation},
	}}
}

// running is a Deployment of an image.
func running(image string) *unstructured.Unstructured {
	container := map[string]any{"name": "app", "image": image}
	pod := map[string]any{"spec": map[string]any{"containers": []any{container}}}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"template": pod},
	}}
}

// Who is held back is called ready if its pods are. That must never be said of what was made for an earlier spec, be it that the present
// one failed before the operator was restarted.
func TestOnlyWhatWasDeployedAsTheSpecSaysIsHeldBack(t *testing.T) {
	never, now := surroundings{}, surroundings{chart: "new", capabilities: 1}
	cases := map[string]struct {
		previous *v1.AppServiceStatus
		settled  surroundings
		state    release.State
		held     bool
	}{
		"a new operator and a spec that was deployed":         {deployedAt(2, metav1.ConditionTrue), never, release.OutOfDate, true},
		"a new operator and a spec that is new":               {deployedAt(1, metav1.ConditionTrue), never, release.OutOfDate, false},
		"a new operator and a spec that failed before":        {deployedAt(2, metav1.ConditionFalse), never, release.OutOfDate, false},
		"a new operator and a resource that nobody looked at": {&v1.AppServiceStatus{}, never, release.OutOfDate, false},
		"an operator that has seen it as rendered":            {deployedAt(2, metav1.ConditionTrue), now, release.OutOfDate, false},
		"other capabilities than when it was as rendered":     {deployedAt(2, metav1.ConditionTrue), surroundings{chart: "new", capabilities: 7}, release.OutOfDate, true},
		"another chart than when it was as rendered":          {deployedAt(2, metav1.ConditionTrue), surroundings{chart: "old", capabilities: 1}, release.OutOfDate, true},
		"a repair": {deployedAt(2, metav1.ConditionTrue), never, release.Drifted, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{Kind: appService, Rollouts: &fleet.Rollouts{Limit: 1}}
			r.Rollouts.Begin(r.candidate(types.NamespacedName{Name: "other"}))
			resource := app("web")
			resource.SetGeneration(2)
			s := &scope{resource: resource, previous: test.previous, memory: &remembered{settled: test.settled}}
			s.asked.Chart.Digest = now.chart
			none := func() ([]types.NamespacedName, error) { return nil, nil }
			r.Gates = &fleet.Gates{Chart: &fleet.Gate{Now: func() fleet.Version { return s.asked.Chart }, Names: none}}
			r.Gates.Note(s.asked, s.name(), fleet.Standing{}, fleet.Standing{})
			live := running("one")
			plan := release.Compare([]*unstructured.Unstructured{running("two")}, map[kube.Key]client.Object{kube.KeyOf(live): live})
			wanted := rendering{rendered: &rendered{inputs: inputs{generation: 2, surroundings: now}}}
			there := &cluster.Snapshot{Record: &cluster.Record{Revision: 1}}
			if got, _ := r.turn(s, wanted, action{state: test.state, plan: plan, there: there}); got.Waits != test.held {
				t.Errorf("got %+v, want that it waits: %t", got, test.held)
			}
		})
	}
}

package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
)

// A Job that is gone is judged by how it ended: the stage after does not begin behind one that failed.
func TestTheStageAfterWaitsForJobsThatAreGone(t *testing.T) {
	job, smoke := jobKey("web-import-1"), jobKey("web-smoke-1")
	wanted := rendering{rendered: &rendered{
		outline: render.Outline{Keys: []kube.Key{job, smoke}, Stages: map[kube.Key]stage.Stage{smoke: stage.After}},
		jobs:    []jobs.Desired{{Run: v1.RunStatus{Job: job.Name, Digest: "1"}}},
	}}
	r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(time.Now()), References: &factSource{}}
	for result, want := range map[v1.RunResult]bool{"": false, v1.RunComplete: true, v1.RunFailed: false, v1.RunUnknown: false} {
		s := &scope{previous: &v1.AppServiceStatus{Runs: []v1.RunStatus{{Job: job.Name, Digest: "1", UID: "1", Result: result}}}}
		assert.Equal(t, want, r.isMainReady(t.Context(), s, wanted, attempt{plan: &plan.Plan{}, observed: &livestate.Snapshot{}}), "result %q", result)
	}
}

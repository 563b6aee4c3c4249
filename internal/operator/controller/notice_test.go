package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/operator/hosts"
)

// observation is one reconcile: when it is, what it finds, and how long the status waits then.
type observation struct {
	at    time.Duration
	state plan.State
	// observed is the generation of 2 that the Deployment controller has observed.
	observed int64
	want     time.Duration
	users    bool
	change   func(*scope, *rendering, *attempt)
}

// The Deployment controller writes its status twice, the first time with the former generation.
func TestTheStatusWaitsForTheControllerOfAWorkloadToObserveIt(t *testing.T) {
	const half = 500 * time.Millisecond
	for name, steps := range map[string][]observation{
		"it is observed":                       {{0, plan.OutOfDate, 1, time.Second, false, nil}, {half, plan.InSync, 1, half, false, nil}, {half, plan.InSync, 2, 0, false, nil}},
		"an install":                           {{0, plan.Absent, 0, time.Second, false, nil}},
		"it is observed at once":               {{0, plan.OutOfDate, 2, 0, false, nil}},
		"nobody observes it":                   {{0, plan.OutOfDate, 1, time.Second, false, nil}, {time.Second, plan.InSync, 1, 0, false, nil}, {time.Minute, plan.InSync, 1, 0, false, nil}},
		"nobody observes it while users wait":  {{0, plan.OutOfDate, 1, time.Second, true, nil}, {4 * time.Second, plan.InSync, 1, time.Second, true, nil}, {5 * time.Second, plan.InSync, 1, 0, true, nil}},
		"users wait no longer":                 {{0, plan.OutOfDate, 1, time.Second, true, nil}, {2 * time.Second, plan.InSync, 1, 0, false, nil}},
		"one release after the other":          {{0, plan.OutOfDate, 1, time.Second, false, nil}, {half, plan.OutOfDate, 1, half, false, nil}, {time.Second, plan.OutOfDate, 1, 0, false, nil}},
		"no release":                           {{0, plan.InSync, 1, 0, true, nil}, {0, plan.Drifted, 1, 0, true, nil}},
		"the one before was reported":          {{0, plan.OutOfDate, 2, 0, false, nil}, {time.Hour, plan.OutOfDate, 1, time.Second, false, nil}},
		"objects that another one had applied": {{0, plan.InSync, 1, time.Second, false, func(_ *scope, _ *rendering, a *attempt) { a.resumed = true }}},
		"an error":                             {{0, plan.OutOfDate, 1, 0, true, func(_ *scope, _ *rendering, a *attempt) { a.err = errors.New("forbidden") }}},
		"a pause":                              {{0, plan.OutOfDate, 1, time.Second, true, nil}, {half, plan.InSync, 1, 0, true, func(s *scope, _ *rendering, _ *attempt) { s.paused = true }}},
		"a route that is held back":            {{0, plan.OutOfDate, 1, 0, true, func(_ *scope, r *rendering, _ *attempt) { r.heldRoutes = []hosts.HeldRoute{{}} }}},
	} {
		t.Run(name, func(t *testing.T) {
			start, s := time.Unix(0, 0), &scope{memory: &remembered{}}
			for _, step := range steps {
				deployment := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "status": map[string]any{"observedGeneration": step.observed}}}
				deployment.SetGeneration(2)
				done := attempt{state: step.state, observed: &livestate.Snapshot{Objects: map[kube.Key]client.Object{{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Name: "web"}: deployment}}}
				wanted := rendering{}
				if step.change != nil {
					step.change(s, &wanted, &done)
				}
				r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(start.Add(step.at)), UsersWait: func() bool { return step.users }}
				got := r.awaitNotice(s, wanted, done)
				assert.Equal(t, step.want, got, "after %s", step.at)
				if got == 0 {
					s.memory.notice = notice{} // the status is written
				}
			}
		})
	}
}

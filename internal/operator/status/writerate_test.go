package status

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// moment is a status at a time.
func moment(generation int64, phase v1.Phase, ready int32) *v1.AppServiceStatus {
	status, reason := metav1.ConditionFalse, v1.ReasonRollingOut
	if phase == v1.PhaseRunning {
		status, reason = metav1.ConditionTrue, v1.ReasonRunning
	}
	return &v1.AppServiceStatus{
		ObservedGeneration: generation, Phase: phase, ReadyReplicas: ready, Readiness: fmt.Sprintf("%d/9", ready),
		Resources: []v1.ResourceStatus{{Kind: "Deployment", Name: "web", Message: fmt.Sprintf("%d of 9", ready)}},
		Conditions: []metav1.Condition{
			{Type: v1.ConditionReady, Status: status, Reason: reason, Message: fmt.Sprintf("%d of 9", ready)},
			{Type: v1.ConditionProgressing, Status: metav1.ConditionTrue, Reason: fmt.Sprintf("ReplicaSet%d", ready)},
		},
	}
}

// writes counts the statuses that are written, if each is tried again when asked for, and returns the last one.
func writes(t *testing.T, statuses func(second int) *v1.AppServiceStatus, seconds int) (count int, last *v1.AppServiceStatus) {
	t.Helper()
	p, due := &writeRate{}, start
	last = &v1.AppServiceStatus{}
	for second := range seconds {
		now := start.Add(time.Duration(second) * time.Second)
		current := statuses(second)
		wait := p.wait(now, last, current)
		if wait < 0 || wait > meaningPeriod {
			t.Fatalf("it waits for %s", wait)
		}
		if wait == 0 && !equality.Semantic.DeepEqual(last, current) {
			count, last = count+1, current
		}
		due = now.Add(wait)
	}
	if final := statuses(seconds - 1); p.wait(due, last, final) != 0 {
		t.Error("when the time has come, it waits again")
	}
	return count, last
}

func TestHowOftenAStatusIsWritten(t *testing.T) {
	steady := moment(1, v1.PhaseRunning, 9)
	cases := map[string]struct {
		statuses func(second int) *v1.AppServiceStatus
		seconds  int
		most     int
	}{
		"nothing changes": {func(int) *v1.AppServiceStatus { return steady }, 60, 1},
		"a rollout in 10 s": {func(second int) *v1.AppServiceStatus {
			switch {
			case second == 0:
				return steady
			case second <= 9:
				return moment(2, v1.PhaseUpdating, int32(second))
			}
			return moment(2, v1.PhaseRunning, 9)
		}, 30, 5}, // the state before, 2 and one for each of 2 phases
		"pods come and go": {func(second int) *v1.AppServiceStatus { return moment(1, v1.PhaseUpdating, int32(second%2)) }, 100, 1 + 100/5},
		"ready and not, in turn": {func(second int) *v1.AppServiceStatus {
			return moment(1, []v1.Phase{v1.PhaseRunning, v1.PhaseUpdating}[second%2], 9)
		}, 100, meaningBurst + 100/10 + 1},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			count, last := writes(t, test.statuses, test.seconds)
			if count > test.most || count == 0 {
				t.Errorf("%d writes, want %d at most", count, test.most)
			}
			if final := test.statuses(test.seconds - 1); name != "ready and not, in turn" && last.Phase != final.Phase {
				t.Errorf("the status says %s, and it is %s", last.Phase, final.Phase)
			}
		})
	}
	t.Run("every generation at once", func(t *testing.T) {
		p, last := &writeRate{}, &v1.AppServiceStatus{}
		for generation := range int64(50) {
			current := moment(generation+1, v1.PhaseUpdating, 0)
			if wait := p.wait(start, last, current); wait != 0 {
				t.Fatalf("generation %d waits for %s", generation+1, wait)
			}
			last = current
		}
	})
	t.Run("the end of a rollout at once, whatever was written a moment before", func(t *testing.T) {
		p, before := &writeRate{}, moment(1, v1.PhaseRunning, 9)
		begun, going, done := moment(2, v1.PhaseUpdating, 0), moment(2, v1.PhaseUpdating, 8), moment(2, v1.PhaseRunning, 9)
		if wait := p.wait(start, before, begun); wait != 0 {
			t.Errorf("its begin waits for %s", wait)
		}
		if wait := p.wait(start, begun, going); wait == 0 {
			t.Error("what changes in details only does not wait")
		}
		if wait := p.wait(start, begun, done); wait != 0 {
			t.Errorf("its end waits for %s", wait)
		}
	})
}

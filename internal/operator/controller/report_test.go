package controller

import (
	"testing"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

func TestTheReasonOfAFailureIsThatOfTheAction(t *testing.T) {
	first, second := &livestate.Record{Revision: 1}, &livestate.Record{Revision: 2}
	for name, test := range map[string]struct {
		state  plan.State
		record *livestate.Record
		want   string
	}{
		"an install":                          {plan.Absent, nil, v1.ReasonInstallFailed},
		"the first release, taken up again":   {plan.Unfinished, first, v1.ReasonInstallFailed},
		"a later release, taken up again":     {plan.Unfinished, second, v1.ReasonUpgradeFailed},
		"an upgrade":                          {plan.OutOfDate, first, v1.ReasonUpgradeFailed},
		"a repair":                            {plan.Drifted, second, v1.ReasonRepairFailed},
		"before anything is decided":          {"", nil, v1.ReasonUpgradeFailed},
		"the first release, not yet recorded": {plan.Unfinished, nil, v1.ReasonInstallFailed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := failureOf(attempt{state: test.state, observed: &livestate.Snapshot{Record: test.record}}); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

package status

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

func TestAContainerThatIsReadyBetweenCrashesChangesNothing(t *testing.T) {
	crashes := []diagnose.Cause{{Reason: v1.ReasonContainerCrashed, Message: "it crashes", Effect: diagnose.Lasting}}
	pull := []diagnose.Cause{{Reason: v1.ReasonImageNotFound, Message: "no image", Effect: diagnose.Lasting}}
	cases := map[string]struct {
		before, after counts
		causes, then  []diagnose.Cause
		same          bool
	}{
		"ready for a moment":                {counts{1, 1, 1, 0}, counts{1, 1, 1, 1}, crashes, crashes, true},
		"one more of several":               {counts{3, 3, 3, 2}, counts{3, 3, 3, 3}, crashes, crashes, true},
		"worse than before":                 {counts{3, 3, 3, 2}, counts{3, 3, 3, 1}, crashes, crashes, false},
		"the rollout has moved on":          {counts{3, 3, 1, 2}, counts{3, 3, 2, 2}, crashes, crashes, false},
		"a cause that does not come and go": {counts{2, 2, 2, 0}, counts{2, 2, 2, 1}, pull, pull, false},
		"another cause":                     {counts{2, 2, 2, 0}, counts{2, 2, 2, 1}, pull, crashes, false},
		"it has recovered":                  {counts{1, 1, 1, 0}, counts{1, 1, 1, 1}, crashes, nil, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			in := state{workload: deployment(test.before), previous: v1.PhaseUpdating}.input(t)
			in.Causes = ofDeployment(test.causes...)
			first := summarize(in)
			in.Previous, in.Snapshot, in.Causes = first, snapshot(t, deployment(test.after)), ofDeployment(test.then...)
			assert.Equal(t, test.same, reflect.DeepEqual(first, summarize(in)), "the status stays the same")
		})
	}
}

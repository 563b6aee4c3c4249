package status

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// A release that returned is not the one that the spec requests, however well it runs.
func TestTheStatusOfWhatReturned(t *testing.T) {
	const says = "image \"b\" cannot be pulled; release 2 failed, release 1 runs again"
	crash := ofDeployment(diagnose.Cause{Reason: v1.ReasonContainerCrashed, Message: "it crashes", Effect: diagnose.Lasting})
	for name, test := range map[string]struct {
		have    counts
		causes  bool
		message string
		phase   v1.Phase
	}{
		"it runs":       {counts{2, 2, 2, 2}, false, says, v1.PhaseDegraded},
		"it starts":     {counts{2, 1, 2, 1}, false, says, v1.PhaseDegraded},
		"it fails, too": {counts{2, 2, 2, 0}, true, says + "; not ready either: it crashes", v1.PhaseFailed},
	} {
		t.Run(name, func(t *testing.T) {
			in := state{workload: deployment(test.have), previous: v1.PhaseUpdating}.input(t)
			in.Returned = says
			in.Snapshot.Record = &livestate.Record{Revision: 3, Status: "deployed", Digest: "digest"}
			if test.causes {
				in.Causes = crash
			}
			out := summarize(in)
			for kind, is := range map[string]bool{v1.ConditionReady: false, v1.ConditionStalled: true, v1.ConditionReconciling: false, v1.ConditionDeployed: false} {
				if got := meta.FindStatusCondition(out.Conditions, kind); meta.IsStatusConditionTrue(out.Conditions, kind) != is || kind != v1.ConditionReconciling && got.Reason != v1.ReasonReturnedToRelease {
					t.Errorf("got %+v", got)
				}
			}
			if got := meta.FindStatusCondition(out.Conditions, v1.ConditionReady).Message; got != test.message || out.Phase != test.phase {
				t.Errorf("got %s, %q", out.Phase, got)
			}
			if got := out.Problems[0]; got.Reason != v1.ReasonReturnedToRelease || got.Message != says || got.Hint == "" {
				t.Errorf("got the problem %+v", got)
			}
		})
	}
}

// The whole of a cause, and why the release is kept, fit into one message.
func TestWhyAReleaseIsKeptIsSaid(t *testing.T) {
	in := state{workload: deployment(counts{2, 1, 2, 1})}.input(t)
	in.Causes = ofDeployment(diagnose.Cause{Reason: v1.ReasonContainerCrashed, Message: strings.Repeat("long ", 100), Effect: diagnose.Lasting})
	in.Stays = "the failed release is kept: no release that was Ready is recorded"
	got := meta.FindStatusCondition(summarize(in).Conditions, v1.ConditionReady).Message
	if !strings.HasSuffix(got, "; "+in.Stays) || len(got) > maxMessage {
		t.Errorf("got %d characters: %q", len(got), got)
	}
	in.Causes = nil // it only starts
	if got := meta.FindStatusCondition(summarize(in).Conditions, v1.ConditionReady).Message; strings.Contains(got, "kept") {
		t.Errorf("got %q", got)
	}
}

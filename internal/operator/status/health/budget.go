package health

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
)

// budget is ready, with a warning if it allows no disruption although all pods that it counts are healthy: nodes cannot
// be drained then.
func budget(b *policyv1.PodDisruptionBudget) State {
	have := b.Status
	if have.ObservedGeneration < b.Generation || have.ExpectedPods == 0 || have.DisruptionsAllowed > 0 ||
		have.CurrentHealthy < have.ExpectedPods {
		return State{}
	}
	return State{
		Verdict: Warned,
		Reason:  v1.ReasonEvictionBlocked,
		Message: fmt.Sprintf("PodDisruptionBudget %s allows no evictions (%d %s): node drains will hang",
			b.Name, have.ExpectedPods, text.Agree(have.ExpectedPods, "pod", "pods")),
	}
}

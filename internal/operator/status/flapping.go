package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/reason"
)

// dampFlapping retains the readiness that was reported while pods only seem to have recovered: between two crashes a
// container is ready for a moment. A deterioration is reported, and so is everything once the cause or the spec
// changes.
func dampFlapping(in Input, out *v1.AppServiceStatus, v verdict) {
	before := in.Previous
	was := meta.FindStatusCondition(before.Conditions, v1.ConditionStalled)
	same := was != nil && was.Status == metav1.ConditionTrue && was.Reason == v.reason &&
		before.ObservedGeneration == out.ObservedGeneration &&
		before.Replicas == out.Replicas && before.UpdatedReplicas == out.UpdatedReplicas
	if v.outcome != stuck || !reason.Of(v.reason).Recurs || !same || out.ReadyReplicas < before.ReadyReplicas ||
		out.AvailableReplicas < before.AvailableReplicas {
		return
	}
	out.ReadyReplicas, out.AvailableReplicas, out.UnavailableReplicas = before.ReadyReplicas, before.AvailableReplicas,
		before.UnavailableReplicas
	out.Readiness, out.Phase = before.Readiness, before.Phase
	for _, kind := range []string{v1.ConditionAvailable, v1.ConditionProgressing} {
		if condition := meta.FindStatusCondition(before.Conditions, kind); condition != nil {
			*meta.FindStatusCondition(out.Conditions, kind) = *condition
		}
	}
}

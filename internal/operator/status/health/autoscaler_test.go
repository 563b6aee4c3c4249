package health

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestAnAutoscalerWithoutMetricsStartsNoFirstReplica(t *testing.T) {
	now := time.Now()
	for least, want := range map[int32]State{
		0: {Verdict: Stuck, Reason: v1.ReasonAutoscalingFailed},
		1: {Verdict: Warned, Reason: v1.ReasonAutoscalingMetricsMissing},
	} {
		scaler := &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: &least}}
		scaler.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse,
			Reason: "FailedGetExternalMetric", Message: "failed to get queue", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}}
		got := autoscaler(scaler, Facts{Now: now})
		assert.Equal(t, want, State{Verdict: got.Verdict, Reason: got.Reason}, "minReplicas %d", least)
	}
}

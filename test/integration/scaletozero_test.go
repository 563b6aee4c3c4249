//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// Kubernetes scales to zero without KEDA from 1.37 on. An earlier one refuses it, and the status has its words.
func TestAHorizontalPodAutoscalerScalesToZero(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: ptr.To[int32](0), MaxReplicas: 3, Metrics: []autoscalingv2.MetricSpec{{
		Type: autoscalingv2.ExternalMetricSourceType,
		External: &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "queue"},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: ptr.To(resource.MustParse("1"))},
		}}}}
	alone := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "alone"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "alone"},
			MinReplicas:    app.Spec.Autoscaling.MinReplicas, MaxReplicas: 3, Metrics: app.Spec.Autoscaling.Metrics,
		},
	}
	refused := cluster.Client.Create(t.Context(), alone, client.DryRunAll)
	cluster.Create(t, app)
	if refused == nil {
		scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		cluster.Becomes(t, "it has an autoscaler that scales to zero", scaler, func() error {
			return want("minReplicas", *scaler.Spec.MinReplicas, 0)
		})
		return
	}
	require.True(t, apierrors.IsInvalid(refused), refused)
	cluster.Becomes(t, "it says that the cluster refuses it", app, func() error {
		ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
		if ready == nil || ready.Status != metav1.ConditionFalse || !strings.Contains(ready.Message, "spec.minReplicas") {
			return fmt.Errorf("Ready is %v", ready)
		}
		return nil
	})
}

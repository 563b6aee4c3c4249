package translate

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

func (a *Application) toAutoscaling(spec *v1.AppServiceSpec) {
	given := a.scaler.Read.Spec
	out := &v1.Autoscaling{MinReplicas: given.MinReplicas, MaxReplicas: given.MaxReplicas, Behavior: given.Behavior}
	for _, metric := range given.Metrics {
		utilization := metric.Type == autoscalingv2.ResourceMetricSourceType && metric.Resource != nil &&
			metric.Resource.Target.Type == autoscalingv2.UtilizationMetricType
		switch {
		case utilization && metric.Resource.Name == corev1.ResourceCPU && out.TargetCPUUtilizationPercentage == nil:
			out.TargetCPUUtilizationPercentage = metric.Resource.Target.AverageUtilization
		case utilization && metric.Resource.Name == corev1.ResourceMemory && out.TargetMemoryUtilizationPercentage == nil:
			out.TargetMemoryUtilizationPercentage = metric.Resource.Target.AverageUtilization
		default:
			out.Metrics = append(out.Metrics, metric)
		}
	}
	spec.Autoscaling = out
}

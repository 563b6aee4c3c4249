package health

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// shareOfNothing is a target of an autoscaler that is a percentage of the containers' requests, while some request
// nothing. The target has no effect then, unless a LimitRange of the namespace makes the pods request more than their
// template does, which only the autoscaler can know.
type shareOfNothing struct {
	resource   corev1.ResourceName
	containers []string
	// measured reports whether the autoscaler could use the target when it was last evaluated.
	measured bool
}

// String describes the problem, as in: container "app" has no cpu request, so a utilization target cannot be computed.
func (s shareOfNothing) String() string {
	noun, verb := "container", "has"
	if len(s.containers) > 1 {
		noun, verb = "containers", "have"
	}
	return fmt.Sprintf("%s %s %s no %s request, so a utilization target (percent of the request) cannot be computed", noun, quoted(s.containers), verb, s.resource)
}

// sharesOfNothing returns those targets of an autoscaler, as far as the objects rendered with it show them.
func sharesOfNothing(a *autoscalingv2.HorizontalPodAutoscaler, facts Facts) []shareOfNothing {
	var found []shareOfNothing
	template := templateOf(a.Spec.ScaleTargetRef, facts)
	if template == nil {
		return nil
	}
	for _, metric := range a.Spec.Metrics {
		resource, container, isShare := shareOf(metric)
		if !isShare {
			continue
		}
		if idle := unrequested(&template.Spec, resource, container); len(idle) > 0 {
			found = append(found, shareOfNothing{resource, idle, measured(a, metric)})
		}
	}
	return found
}

// templateOf returns the pod template of an autoscaler's target; nil if it is not known.
func templateOf(target autoscalingv2.CrossVersionObjectReference, facts Facts) *corev1.PodTemplateSpec {
	group, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return nil
	}
	workload, found := diagnose.WorkloadOf(facts.Live[kube.Key{GroupKind: group.WithKind(target.Kind).GroupKind(),
		Name: target.Name}])
	if !found {
		return nil
	}
	return workload.Template
}

// shareOf returns the resource of a metric that is a percentage of its request, and the container if the metric covers
// only one.
func shareOf(metric autoscalingv2.MetricSpec) (resource corev1.ResourceName, container string, isShare bool) {
	switch {
	case metric.Resource != nil:
		return metric.Resource.Name, "", metric.Resource.Target.Type == autoscalingv2.UtilizationMetricType
	case metric.ContainerResource != nil:
		return metric.ContainerResource.Name, metric.ContainerResource.Container,
			metric.ContainerResource.Target.Type == autoscalingv2.UtilizationMetricType
	}
	return "", "", false
}

// unrequested returns the containers of pods, including sidecars, that request nothing of a resource. A limit counts as
// a request: the API server defaults one to the other. Requests of a whole pod replace those of its containers.
func unrequested(pod *corev1.PodSpec, resource corev1.ResourceName, only string) []string {
	if only == "" && pod.Resources != nil && asks(*pod.Resources, resource) {
		return nil
	}
	var idle []string
	containers := slices.Clone(pod.Containers)
	for _, container := range pod.InitContainers {
		if container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			containers = append(containers, container)
		}
	}
	for _, container := range containers {
		if (only == "" || only == container.Name) && !asks(container.Resources, resource) {
			idle = append(idle, container.Name)
		}
	}
	return idle
}

func asks(resources corev1.ResourceRequirements, resource corev1.ResourceName) bool {
	_, requested := resources.Requests[resource]
	_, limited := resources.Limits[resource]
	return requested || limited
}

// measured reports whether an autoscaler has a value of a metric.
func measured(a *autoscalingv2.HorizontalPodAutoscaler, metric autoscalingv2.MetricSpec) bool {
	return slices.ContainsFunc(a.Status.CurrentMetrics, func(current autoscalingv2.MetricStatus) bool {
		switch {
		case metric.Resource != nil:
			return current.Resource != nil && current.Resource.Name == metric.Resource.Name
		case metric.ContainerResource != nil:
			return current.ContainerResource != nil && current.ContainerResource.Name == metric.ContainerResource.Name &&
				current.ContainerResource.Container == metric.ContainerResource.Container
		}
		return false
	})
}

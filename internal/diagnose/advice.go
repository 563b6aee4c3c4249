package diagnose

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// metricsPatience is for how long metrics of new pods may be missing.
const metricsPatience = 90 * time.Second

// annotationIngressClass is how Ingresses named their class before the field.
const annotationIngressClass = "kubernetes.io/ingress.class"

var missingRequest = regexp.MustCompile(`missing request for (\S+) in container (\S+)`)

// autoscaling says why the number of replicas does not follow the load.
func autoscaling(f Findings) []Cause {
	if f.Autoscaler == nil {
		return nil
	}
	source := "HorizontalPodAutoscaler"
	for _, condition := range f.Autoscaler.Status.Conditions {
		if condition.Type != autoscalingv2.ScalingActive || condition.Status != corev1.ConditionFalse || condition.Reason == "ScalingDisabled" {
			continue
		}
		if found := missingRequest.FindStringSubmatch(condition.Message); found != nil {
			return []Cause{{
				Reason: v1.ReasonAutoscalingRequestMissing, Source: source,
				Message: fmt.Sprintf("autoscaling does nothing: container %q requests no %s, of which the target is a share", found[2], found[1]),
			}}
		}
		cause := Cause{Reason: v1.ReasonAutoscalingMetricsMissing, Source: source, Message: "autoscaling does nothing: it has no metrics"}
		switch {
		case strings.Contains(condition.Message, "could not find the requested resource"):
			cause.Detail = "the cluster has no metrics API, which metrics-server brings"
		case f.Now.Sub(condition.LastTransitionTime.Time) < metricsPatience:
			return nil // metrics of new pods take their time
		default:
			cause.Detail = Brief(AfterLast(condition.Message, "unable to fetch metrics from "))
		}
		return []Cause{cause}
	}
	return nil
}

// ingress says why an Ingress may stay without a controller. Admission puts the default class into those that name none.
func ingress(f Findings) []Cause {
	if f.Ingress == nil || f.Ingress.Spec.IngressClassName != nil || f.Ingress.Annotations[annotationIngressClass] != "" {
		return nil
	}
	return []Cause{{
		Reason: v1.ReasonIngressClassMissing, Source: "Ingress",
		Message: "the Ingress names no class, and the cluster has no default one: most controllers leave it alone",
	}}
}

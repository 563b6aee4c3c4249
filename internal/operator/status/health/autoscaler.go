package health

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// metricsPatience is how long metrics of new pods may be missing.
const metricsPatience = 90 * time.Second

var missingRequest = regexp.MustCompile(`missing request for (\S+) in container (\S+)`)

// autoscaler is ready unless it may not or cannot scale, or its targets need requests that the pods do not have.
// Metrics are for the cluster to provide: without them the number of replicas stays, and the pods serve.
func autoscaler(a *autoscalingv2.HorizontalPodAutoscaler, facts Facts) State {
	var active *autoscalingv2.HorizontalPodAutoscalerCondition
	for i := range a.Status.Conditions {
		condition := &a.Status.Conditions[i]
		switch {
		case condition.Type == autoscalingv2.ScalingActive:
			active = condition
		case condition.Type == autoscalingv2.AbleToScale && condition.Status == corev1.ConditionFalse &&
			condition.Reason != "BackoffDownscale" && condition.Reason != "BackoffBoth":
			return State{Verdict: Stuck, Reason: v1.ReasonAutoscalingFailed,
				Message: "autoscaling is inactive: " + condition.Message}
		}
	}
	shares := sharesOfNothing(a, facts)
	switch {
	case active == nil && len(shares) > 0: // a LimitRange may help
		return State{Verdict: Waiting, Reason: v1.ReasonAutoscalingRequestMissing,
			Message: "the autoscaler has not evaluated the pods yet; " + shares[0].String()}
	case active == nil:
		return unmeasured(a, "the autoscaler has not evaluated the pods yet", a.CreationTimestamp.Time, facts)
	case active.Status == corev1.ConditionFalse && active.Reason != "ScalingDisabled":
		return inactive(a, active, shares, facts)
	}
	for _, share := range shares { // the autoscaler uses the other targets, and does not report this one
		if active.Status == corev1.ConditionTrue && !share.measured {
			return State{Verdict: Warned, Reason: v1.ReasonAutoscalingRequestMissing,
				Message: fmt.Sprintf("the %s target is ignored (other targets still scale): %s", share.resource, share)}
		}
	}
	for _, condition := range a.Status.Conditions {
		if condition.Type == autoscalingv2.ScalingLimited && condition.Status == corev1.ConditionTrue &&
			condition.Reason == "TooManyReplicas" {
			return State{
				Verdict: Warned,
				Reason:  v1.ReasonAutoscalingLimited,
				Message: fmt.Sprintf("at the limit: the load requires more than maxReplicas (%d)", a.Spec.MaxReplicas),
			}
		}
	}
	return State{}
}

// inactive returns the state of an autoscaler that cannot compute a number of replicas.
func inactive(a *autoscalingv2.HorizontalPodAutoscaler, condition *autoscalingv2.HorizontalPodAutoscalerCondition,
	shares []shareOfNothing, facts Facts) State {
	if found := missingRequest.FindStringSubmatch(condition.Message); found != nil {
		// the autoscaler names the first of them
		missing := shareOfNothing{resource: corev1.ResourceName(found[1]), containers: found[2:]}
		for _, share := range shares {
			if share.resource == missing.resource {
				missing = share
			}
		}
		return State{Verdict: Stuck, Reason: v1.ReasonAutoscalingRequestMissing,
			Message: "autoscaling is inactive: " + missing.String()}
	}
	const nothing = "autoscaling is inactive: no metrics: "
	if strings.Contains(condition.Message, "could not find the requested resource") {
		return unmeasured(a, nothing+"the cluster has no metrics API (metrics-server provides it)", time.Time{}, facts)
	}
	return unmeasured(a, nothing+diagnose.Brief(diagnose.AfterLast(condition.Message, "failed to get ")),
		condition.LastTransitionTime.Time, facts)
}

// unmeasured returns the state of an autoscaler without metrics since some time: those of new pods take a while. One
// that scales to zero starts no replica without them.
func unmeasured(a *autoscalingv2.HorizontalPodAutoscaler, message string, since time.Time, facts Facts) State {
	if until := since.Add(metricsPatience); facts.Now.Before(until) {
		return State{Until: until}
	}
	if ptr.Deref(a.Spec.MinReplicas, 1) == 0 {
		return State{Verdict: Stuck, Reason: v1.ReasonAutoscalingFailed, Message: message}
	}
	return State{Verdict: Warned, Reason: v1.ReasonAutoscalingMetricsMissing, Message: message}
}

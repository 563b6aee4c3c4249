package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/diagnose"
	"github.com/example/appservice-operator/internal/health"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/status"
)

// diagnose returns why the Deployment is not as desired, and the schedule of looks at its pods; nil if none is needed.
func (r *Reconciler) diagnose(ctx context.Context, s *scope, there *cluster.Snapshot, problem *status.Problem) ([]diagnose.Cause, *diagnose.Looks) {
	now := r.Clock.Now()
	workload := status.Workload(s.resource, there)
	findings := findingsOf(there, workload)
	findings.Now = now
	if workload == nil || s.paused || problem != nil || workload.Status.ObservedGeneration < workload.Generation {
		return nil, nil
	}
	if !health.Deployment(workload).Holds() && !mayCrashAgain(s) {
		return diagnose.Causes(findings), nil
	}
	stalled := diagnosed(s.previous) // what was known before a restart is found again before anything else is said
	looks := diagnose.Follow(s.memory.looks, workload, now, stalled)
	switch {
	case !looks.Due(now):
	case !stalled && r.Looks != nil && !r.Looks.TryAccept():
		looks.Postpone(now)
	default:
		r.look(ctx, looks, &findings)
	}
	if !looks.Looked() {
		looks.Causes = diagnose.Causes(findings)
	}
	return looks.Causes, looks
}

// look reads pods and what belongs to them. What goes wrong with that leaves the causes as they were.
func (r *Reconciler) look(ctx context.Context, looks *diagnose.Looks, findings *diagnose.Findings) {
	found := looks.Causes
	if err := diagnose.Collect(ctx, r.Live, findings); err != nil {
		log.FromContext(ctx).Info("pods could not be looked at", "reason", err.Error())
	} else {
		found = diagnose.Steady(looks.Causes, diagnose.Causes(*findings))
	}
	looks.Done(findings.Now, found)
}

// diagnosed reports whether a status says that the rollout is stuck for a cause that pods show.
func diagnosed(previous *v1.AppServiceStatus) bool {
	condition := meta.FindStatusCondition(previous.Conditions, v1.ConditionStalled)
	return condition != nil && condition.Status == metav1.ConditionTrue && diagnose.Seen(condition.Reason)
}

// mayCrashAgain reports whether pods that seem to be well may be about to crash again.
func mayCrashAgain(s *scope) bool {
	condition := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionStalled)
	if !diagnosed(s.previous) || !diagnose.Recurs(condition.Reason) || s.previous.ObservedGeneration != s.resource.GetGeneration() {
		return false
	}
	looks := s.memory.looks
	if !looks.Looked() {
		return true
	}
	return len(looks.Causes) > 0 && looks.Causes[0].Effect == diagnose.Lasting
}

// findingsOf returns what a snapshot tells of why a Deployment is not as desired, without a request.
func findingsOf(there *cluster.Snapshot, workload *appsv1.Deployment) diagnose.Findings {
	out := diagnose.Findings{Deployment: workload}
	if workload == nil {
		return out
	}
	out.Autoscaler = kube.As[autoscalingv2.HorizontalPodAutoscaler](there.Object("autoscaling", "HorizontalPodAutoscaler", workload.Name))
	out.Ingress = kube.As[networkingv1.Ingress](there.Object(networkingv1.GroupName, "Ingress", workload.Name))
	return out
}

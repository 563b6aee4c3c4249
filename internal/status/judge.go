package status

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/diagnose"
)

// verdict is the one decision that all conditions follow from.
type verdict struct {
	outcome outcome
	reason  string
	message string
	serving bool // while it is stuck: something answers requests, be it an earlier version
}

// outcome is how a resource stands.
type outcome int

const (
	running outcome = iota // everything as desired
	moving                 // on its way there
	stuck                  // no progress without help
	paused                 // left as it is
)

// judge decides how the resource stands, and where that is to be stuck, what goes on meanwhile.
func judge(in Input, workload *appsv1.Deployment) verdict {
	v := decide(in, workload)
	if v.outcome != stuck {
		return v
	}
	reach := reachOf(in, workload)
	v.serving = reach.serving()
	if in.Problem == nil {
		meanwhile := reach.meanwhile()
		v.message = shorten(v.message, maxMessage-len(meanwhile)) + meanwhile
	}
	return v
}

func decide(in Input, workload *appsv1.Deployment) (v verdict) {
	if in.Paused {
		v.outcome, v.reason, v.message = paused, v1.ReasonPaused, "paused by spec.paused: nothing is installed, upgraded or repaired"
		return v
	}
	if in.Problem != nil {
		v.outcome, v.reason, v.message = moving, in.Problem.Reason, in.Problem.Message
		if in.Problem.Blocked {
			v.outcome = stuck
		}
		return v
	}
	if name := missingDeployment(in); name != "" {
		v.outcome, v.reason, v.message = moving, v1.ReasonPending, fmt.Sprintf("waiting for Deployment %s, which is not there", name)
		return v
	}
	if workload == nil {
		v.outcome, v.reason, v.message = running, v1.ReasonNoWorkload, "deployed; the chart renders no Deployment to wait for"
		return v
	}
	v.outcome, v.reason, v.message = rollout(workload)
	v.explain(workload, in.causesOf(workload))
	return v
}

// explain takes the worst cause into the verdict. One that lasts means that the rollout is stuck, whatever its deadline; one
// that may pass only says what is waited for. Causes of an earlier spec of the Deployment count no more.
func (v *verdict) explain(workload *appsv1.Deployment, causes []diagnose.Cause) {
	if len(causes) == 0 || causes[0].Effect == diagnose.Advice || workload.Status.ObservedGeneration < workload.Generation {
		return
	}
	switch first := causes[0]; {
	case first.Effect == diagnose.Lasting, v.outcome == stuck:
		v.outcome, v.reason, v.message = stuck, first.Reason, first.Text()
	case v.outcome == moving:
		v.message = first.Text()
	}
}

// missingDeployment gives the name of a Deployment that is rendered and not there: somebody has just deleted it, or it is
// yet to be created. It is empty where there is none.
func missingDeployment(in Input) string {
	for _, key := range in.Rendered {
		if key.Group == appsv1.GroupName && key.Kind == "Deployment" && in.Snapshot.Objects[key] == nil {
			return key.Name
		}
	}
	return ""
}

// rollout tells how far a Deployment is, as `kubectl rollout status` does.
func rollout(d *appsv1.Deployment) (outcome, string, string) {
	want, have := wanted(d), d.Status
	if have.ObservedGeneration < d.Generation {
		return moving, v1.ReasonRollingOut, "waiting for the rollout to begin"
	}
	if failure := deploymentCondition(d, appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		return stuck, v1.ReasonReplicaFailure, "pods cannot be created: " + failure.Message
	}
	complete := have.UpdatedReplicas == want && have.Replicas == want && have.AvailableReplicas == want
	switch progressing := deploymentCondition(d, appsv1.DeploymentProgressing); {
	case complete && want == 0:
		return running, v1.ReasonScaledToZero, "scaled to zero as desired"
	case complete:
		return running, v1.ReasonRunning, fmt.Sprintf("%d of %d replicas are up to date and available", have.AvailableReplicas, want)
	case progressing != nil && progressing.Reason == "ProgressDeadlineExceeded":
		return stuck, v1.ReasonRolloutStalled, fmt.Sprintf("%d of %d updated replicas became available before the progress deadline",
			max(0, have.AvailableReplicas-(have.Replicas-have.UpdatedReplicas)), want)
	case have.UpdatedReplicas < want:
		return moving, v1.ReasonRollingOut, fmt.Sprintf("%d of %d replicas are up to date", have.UpdatedReplicas, want)
	case have.Replicas > have.UpdatedReplicas:
		return moving, v1.ReasonRollingOut, fmt.Sprintf("%d old replicas are still to end", have.Replicas-have.UpdatedReplicas)
	case have.Replicas > want:
		return moving, v1.ReasonRollingOut, fmt.Sprintf("%d replicas are still to end", have.Replicas-want)
	}
	return moving, v1.ReasonRollingOut, fmt.Sprintf("%d of %d replicas are available", have.AvailableReplicas, want)
}

func deploymentCondition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == kind {
			return &d.Status.Conditions[i]
		}
	}
	return nil
}

// phase puts the verdict in one word. A resource that has never run is pending rather than updating.
func (v verdict) phase(previous v1.Phase) v1.Phase {
	switch {
	case v.outcome == paused:
		return v1.PhasePaused
	case v.outcome == running:
		return v1.PhaseRunning
	case v.outcome == stuck && v.serving:
		return v1.PhaseDegraded
	case v.outcome == stuck:
		return v1.PhaseFailed
	case previous == "" || previous == v1.PhasePending:
		return v1.PhasePending
	}
	return v1.PhaseUpdating
}

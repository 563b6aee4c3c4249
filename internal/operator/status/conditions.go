package status

import (
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

// conditions returns all conditions, always the same types in the same order.
func conditions(in Input, main client.Object, v verdict) []metav1.Condition {
	return []metav1.Condition{
		{Type: v1.ConditionReady, Status: ready(v), Reason: v.reason, Message: v.message},
		available(main, v),
		progressing(in, main),
		deployed(in),
		flag(v1.ConditionReconciling, v.outcome == moving, v),
		flag(v1.ConditionStalled, v.outcome == stuck, v),
	}
}

func flag(kind string, set bool, v verdict) metav1.Condition {
	condition := metav1.Condition{Type: kind, Status: isTrue(set), Reason: v1.ReasonAsExpected}
	if set {
		condition.Reason, condition.Message = v.reason, v.message
	}
	return condition
}

func available(main client.Object, v verdict) metav1.Condition {
	switch main := kube.Typed(main).(type) {
	case *appsv1.Deployment:
		return fromDeployment(v1.ConditionAvailable, appsv1.DeploymentAvailable, main)
	case *appsv1.StatefulSet:
		return availableSet(main)
	}
	condition := noWorkload(v1.ConditionAvailable)
	if v.outcome == running {
		condition.Status = metav1.ConditionTrue
	}
	return condition
}

// availableSet returns for a StatefulSet the condition that a Deployment has itself. A rollout replaces one replica at
// a time, even the only one.
func availableSet(set *appsv1.StatefulSet) metav1.Condition {
	want, have := ptr.Deref(set.Spec.Replicas, 1), set.Status.AvailableReplicas
	enough := have >= min(want, max(1, want-1))
	reason := map[bool]string{true: "MinimumReplicasAvailable", false: "MinimumReplicasUnavailable"}[enough]
	message := health.OfReplicas(have, want, "available")
	return metav1.Condition{Type: v1.ConditionAvailable, Status: isTrue(enough), Reason: reason, Message: message}
}

func progressing(in Input, main client.Object) metav1.Condition {
	switch main := kube.Typed(main).(type) {
	case *appsv1.Deployment:
		return fromDeployment(v1.ConditionProgressing, appsv1.DeploymentProgressing, main)
	case *appsv1.StatefulSet:
		state := health.Of(main, factsOf(in))
		return metav1.Condition{
			Type: v1.ConditionProgressing, Status: isTrue(state.Verdict != health.Stuck), Reason: state.Reason,
			Message: state.Message,
		}
	}
	return noWorkload(v1.ConditionProgressing)
}

func noWorkload(kind string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: v1.ReasonNoWorkload,
		Message: "there is no Deployment"}
}

func fromDeployment(kind string, source appsv1.DeploymentConditionType, workload *appsv1.Deployment) metav1.Condition {
	condition := health.DeploymentCondition(workload, source)
	if condition == nil {
		return metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: v1.ReasonPending,
			Message: "the Deployment has not reported it yet"}
	}
	return metav1.Condition{Type: kind, Status: metav1.ConditionStatus(condition.Status), Reason: condition.Reason,
		Message: condition.Message}
}

func deployed(in Input) metav1.Condition {
	condition := metav1.Condition{Type: v1.ConditionDeployed, Status: metav1.ConditionFalse, Reason: v1.ReasonPending,
		Message: "no release yet"}
	record := in.Snapshot.Record
	if in.Problem != nil {
		condition.Reason, condition.Message = in.Problem.Reason, in.Problem.Message
	}
	if record == nil {
		return condition
	}
	verb := v1.ReasonUpgraded
	if record.Revision == 1 {
		verb = v1.ReasonInstalled
	}
	switch {
	case in.Returned != "":
		condition.Reason, condition.Message = v1.ReasonReturnedToRelease, in.Returned
	case in.Stage != nil && in.Stage.New:
		condition.Message = fmt.Sprintf("release %d is kept until the stage %s of the next one is ready", record.Revision,
			in.Stage.Name)
	case record.Status == string(helmrelease.StatusDeployed) && (in.Problem == nil || record.Digest == in.Digest):
		condition.Status, condition.Reason = metav1.ConditionTrue, verb
		condition.Message = fmt.Sprintf("release %d of chart version %s is deployed", record.Revision, record.Chart)
	case in.Problem == nil:
		condition.Message = fmt.Sprintf("release %d is %s", record.Revision, record.Status)
	}
	return condition
}

func ready(v verdict) metav1.ConditionStatus {
	if v.outcome == paused {
		return metav1.ConditionUnknown
	}
	return isTrue(v.outcome == running)
}

func isTrue(value bool) metav1.ConditionStatus {
	if value {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

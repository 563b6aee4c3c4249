// Package health returns the state of a live object of any kind: whether it does what it is for. It is pure: it reads
// no cluster, and the same object with the same facts is always in the same state. Built-in kinds have rules of their
// own; all others are read as kstatus reads them.
package health

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/readywhen"
)

// Of returns the state of a live object; nil stands for one that does not exist.
func Of(object client.Object, facts Facts) State {
	if object == nil {
		return State{Verdict: Waiting, Reason: v1.ReasonPending, Message: "does not exist"}
	}
	if going := kube.DeletionOf(object); going != nil {
		return deleted(going, facts)
	}
	if state, found := annotated(object); found {
		return state
	}
	if kube.IsOutline(object) {
		return State{}
	}
	switch object := kube.Typed(object).(type) {
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet, *appsv1.ReplicaSet:
		return rollout(object, facts)
	case *batchv1.Job:
		return job(object)
	case *batchv1.CronJob:
		return cronJob(object)
	case *corev1.Service:
		return service(object, facts)
	case *networkingv1.Ingress:
		return ingress(object, facts)
	case *corev1.PersistentVolumeClaim:
		return claim(object, facts)
	case *autoscalingv2.HorizontalPodAutoscaler:
		return autoscaler(object, facts)
	case *policyv1.PodDisruptionBudget:
		return budget(object)
	case *admissionv1.ValidatingWebhookConfiguration, *admissionv1.MutatingWebhookConfiguration:
		return webhooks(object, facts)
	// they have no status
	case *corev1.ConfigMap, *corev1.ServiceAccount, *networkingv1.NetworkPolicy, *rbacv1.Role, *rbacv1.RoleBinding:
		return State{}
	}
	if route := gateway.RouteOf(object); route != nil {
		return routeState(route, facts)
	}
	if set := gateway.ListenerSetOf(object); set != nil {
		return listenerSetState(object, set, facts)
	}
	if object.GetObjectKind().GroupVersionKind().GroupKind() == ScaledObject {
		return scaledObject(object, facts)
	}
	if isAPIService(object) {
		return apiService(object)
	}
	return computed(object)
}

// deleted returns the state of an object that is being deleted: stuck once it should be gone.
func deleted(going *kube.Deletion, facts Facts) State {
	state := State{Verdict: Waiting, Reason: v1.ReasonPending, Message: "is being deleted " + going.String(),
		Until: going.Until()}
	if going.Overdue(facts.Now) {
		state.Verdict, state.Reason, state.Hint = Stuck, v1.ReasonDeletionBlocked, going.Remedy()
		state.Until = time.Time{}
	}
	return state
}

// HasRule reports whether objects of a kind of another project are judged by a rule of their own, not by conditions
// that kinds have in common.
func HasRule(object client.Object) bool {
	return gateway.RouteOf(object) != nil || gateway.ListenerSetOf(object) != nil ||
		object.GetObjectKind().GroupVersionKind().GroupKind() == ScaledObject
}

// annotated returns the state that the annotations of an object set, if any: then no other rule applies.
func annotated(object client.Object) (State, bool) {
	found, applies := readywhen.Of(object)
	switch {
	case !applies:
		return State{}, false
	case found.Ready:
		return State{}, true
	case found.Fault:
		return State{Verdict: Stuck, Message: found.Message,
			Hint: "ask the maintainers of the chart to correct the annotation"}, true
	}
	return State{Verdict: Waiting, Message: found.Message}, true
}

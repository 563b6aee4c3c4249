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
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// Verdict is the readiness of an object.
type Verdict int

const (
	// Ready objects do what they are for, or do not report whether they do.
	Ready Verdict = iota
	// Warned objects are ready, with a warning.
	Warned
	// Waiting objects may become ready without help.
	Waiting
	// Stuck objects become ready only with help.
	Stuck
)

// State is the readiness of an object, and the reason.
type State struct {
	Verdict Verdict
	// Reason is one of the constants of the API; empty if there is nothing special to say.
	Reason string
	// Message is one line: what is wrong, in the words of the best source, or the progress of a workload.
	Message string
	// Hint says what to do; often empty.
	Hint string
	// Until is when the state has to be judged again although nothing changes; zero if there is no such time.
	Until time.Time
}

// Facts are what an object does not contain itself.
type Facts struct {
	Now time.Time
	// Since is when the newest release was recorded; zero if there is none: new objects have some time to become ready.
	Since time.Time
	// Missing are the objects that something rendered refers to and that do not exist, with the names of those that do.
	Missing map[reference.Object][]string
	// Gateways are the Gateways that routes attach to, as far as they are known.
	Gateways gateway.Gateways
	// Live are the objects that were rendered together, as far as they exist.
	Live map[kube.Key]client.Object
}

// Of returns the state of a live object; nil stands for one that does not exist.
func Of(object client.Object, facts Facts) State {
	if object == nil {
		return State{Verdict: Waiting, Reason: v1.ReasonPending, Message: "does not exist"}
	}
	if object.GetDeletionTimestamp() != nil {
		return State{Verdict: Waiting, Reason: v1.ReasonPending, Message: "is being deleted"}
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

// HasRule reports whether objects of a kind of another project are judged by a rule of their own, not by conditions
// that kinds have in common.
func HasRule(object client.Object) bool {
	return gateway.RouteOf(object) != nil || gateway.ListenerSetOf(object) != nil ||
		object.GetObjectKind().GroupVersionKind().GroupKind() == ScaledObject
}

// Holds reports whether an object keeps its resource from being ready.
func (s State) Holds() bool { return s.Verdict >= Waiting }

// overdue makes a state stuck that should have passed after some time. The time begins when the object was
// last created or released.
func (s State) overdue(object client.Object, facts Facts, patience time.Duration) State {
	since := object.GetCreationTimestamp().Time
	if facts.Since.After(since) {
		since = facts.Since
	}
	if until := since.Add(patience); facts.Now.Before(until) {
		s.Verdict, s.Until = Waiting, until
	} else {
		s.Verdict = Stuck
	}
	return s
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

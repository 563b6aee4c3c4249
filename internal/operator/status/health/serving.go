package health

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// isAPIService reports whether an object registers an API that pods serve.
func isAPIService(object client.Object) bool {
	kind := object.GetObjectKind().GroupVersionKind()
	return kind.Group == "apiregistration.k8s.io" && kind.Kind == "APIService"
}

// apiService returns the state of an API that pods serve: while it is not available, the whole cluster waits for it.
func apiService(object client.Object) State {
	content, _ := kube.Content(object)
	conditions, _, _ := unstructured.NestedSlice(content, "status", "conditions")
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if condition["type"] == "Available" && condition["status"] != "True" {
			return State{Verdict: Warned, Reason: v1.ReasonResourceNotReady,
				Message: fmt.Sprintf("is not available (%v): meanwhile, discovery is incomplete, and no namespace of the cluster can be deleted",
					condition["message"])}
		}
	}
	return State{}
}

// webhooks returns the state of webhooks that pods of this release serve: while no pod is ready, the API server refuses
// what they are asked for.
func webhooks(object client.Object, facts Facts) State {
	type hook struct {
		name     string
		policy   *admissionv1.FailurePolicyType
		service  *admissionv1.ServiceReference
		concerns []admissionv1.RuleWithOperations
	}
	var list []hook
	switch object := object.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		for _, each := range object.Webhooks {
			list = append(list, hook{each.Name, each.FailurePolicy, each.ClientConfig.Service, each.Rules})
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for _, each := range object.Webhooks {
			list = append(list, hook{each.Name, each.FailurePolicy, each.ClientConfig.Service, each.Rules})
		}
	}
	for _, each := range list {
		mayFail := each.policy != nil && *each.policy == admissionv1.Ignore
		if each.service == nil || mayFail || served(each.service.Name, facts) {
			continue
		}
		var resources []string
		for _, rule := range each.concerns {
			resources = append(resources, rule.Resources...)
		}
		return State{Verdict: Warned, Reason: v1.ReasonResourceNotReady,
			Message: fmt.Sprintf("has failurePolicy Fail in %s, and no pod of Service %q is ready: meanwhile, writes of %s fail", each.name,
				each.service.Name, strings.Join(resources, ", "))}
	}
	return State{}
}

// served reports whether a workload of this release has a ready pod behind a Service; also if the Service is not of
// this release, or selects pods of others.
func served(name string, facts Facts) bool {
	var service *corev1.Service
	for _, object := range facts.Live {
		if found, is := kube.Typed(object).(*corev1.Service); is && found.Name == name {
			service = found
		}
	}
	if service == nil || len(service.Spec.Selector) == 0 {
		return true
	}
	selector, found := labels.SelectorFromSet(service.Spec.Selector), false
	for _, object := range facts.Live {
		pods, ready := map[string]string{}, int32(0)
		switch workload := kube.Typed(object).(type) {
		case *appsv1.Deployment:
			pods, ready = workload.Spec.Template.Labels, workload.Status.ReadyReplicas
		case *appsv1.StatefulSet:
			pods, ready = workload.Spec.Template.Labels, workload.Status.ReadyReplicas
		case *appsv1.DaemonSet:
			pods, ready = workload.Spec.Template.Labels, workload.Status.NumberReady
		}
		if !selector.Matches(labels.Set(pods)) {
			continue
		}
		if found = true; ready > 0 {
			return true
		}
	}
	return !found
}

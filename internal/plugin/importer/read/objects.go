// Package read reads objects of a cluster, of a Helm release or of a manifest, in the versions that Kubernetes serves
// today, and finds the workloads among them.
package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Objects are all objects of an import.
type Objects struct {
	All       []*unstructured.Unstructured
	Workloads []*unstructured.Unstructured
	// Taken are the objects that became part of an AppService.
	Taken map[*unstructured.Unstructured]bool
	// Unreadable are objects with fields of another type.
	Unreadable []Failure
}

// Sort finds the workloads among objects, and the objects that cannot be read.
func Sort(objects []*unstructured.Unstructured) *Objects {
	w := &Objects{All: objects, Taken: map[*unstructured.Unstructured]bool{}}
	for _, object := range objects {
		if read := Readable[GroupOf(object)+"/"+object.GetKind()]; read != nil && read(object) != nil {
			w.Unreadable = append(w.Unreadable, Failure{Describe(object), read(object)})
			w.Taken[object] = true
		}
		switch {
		case workloads[GroupOf(object)+"/"+object.GetKind()] && Controlled(object):
			w.Taken[object] = true // its controller makes it
		case isWorkload(object):
			w.Workloads = append(w.Workloads, object)
		}
	}
	return w
}

// Readable are the kinds that belong to workloads, with whether an object can be read.
var Readable = map[string]func(*unstructured.Unstructured) error{
	"/Service": reads[corev1.Service], "/ConfigMap": reads[corev1.ConfigMap], "/ServiceAccount": reads[corev1.ServiceAccount],
	"/PersistentVolumeClaim":              reads[corev1.PersistentVolumeClaim],
	"networking.k8s.io/Ingress":           reads[networkingv1.Ingress],
	"networking.k8s.io/NetworkPolicy":     reads[networkingv1.NetworkPolicy],
	"autoscaling/HorizontalPodAutoscaler": reads[autoscalingv2.HorizontalPodAutoscaler],
	"policy/PodDisruptionBudget":          reads[policyv1.PodDisruptionBudget],
}

func reads[T any](object *unstructured.Unstructured) error {
	_, err := As[T](object)
	return err
}

// workloads are the kinds that an AppService or AppJob is made of.
var workloads = map[string]bool{
	"apps/Deployment": true, "apps/StatefulSet": true, "apps/ReplicaSet": true, "/Pod": true,
	"/ReplicationController": true, "batch/Job": true, "batch/CronJob": true,
}

func isWorkload(object *unstructured.Unstructured) bool {
	return workloads[GroupOf(object)+"/"+object.GetKind()] && !IsHook(object) && object.GetAnnotations()[v1.AnnotationStage] == "" && !Controlled(object)
}

// In returns the objects of a namespace: those of another one have nothing to do with a workload.
func (o *Objects) In(namespace string) *Objects {
	of := func(list []*unstructured.Unstructured) []*unstructured.Unstructured {
		return slices.DeleteFunc(slices.Clone(list),
			func(o *unstructured.Unstructured) bool { return o.GetNamespace() != namespace })
	}
	return &Objects{All: of(o.All), Workloads: of(o.Workloads), Taken: o.Taken}
}

// of returns the objects of a group and kind.
func (o *Objects) of(group, kind string) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, object := range o.All {
		if GroupOf(object) == group && object.GetKind() == kind && object.GetAnnotations()[HookAnnotation] == "" {
			list = append(list, object)
		}
	}
	return list
}

// Pair is an object as it was given, and converted to its Go type.
type Pair[T any] struct {
	Object *unstructured.Unstructured
	Read   *T
}

// As reads an object as its Go type. Fields that the type does not have are left out.
func As[T any](object *unstructured.Unstructured) (*T, error) {
	into := new(T)
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
	if err != nil { // it does not name the field
		data, _ := json.Marshal(object.Object)
		var wrong *json.UnmarshalTypeError
		if named := json.Unmarshal(data, into); errors.As(named, &wrong) {
			err = fmt.Errorf("%s: it has to be a %s, and is a %s", wrong.Field, wrong.Type, wrong.Value)
		} else if named != nil {
			err = named
		}
	}
	return into, err
}

// Only returns the objects for which keep returns true. Those that cannot be read are none of them.
func Only[T any](o *Objects, group, kind string, keep func(*T) bool) []Pair[T] {
	var list []Pair[T]
	for _, object := range o.of(group, kind) {
		if read, err := As[T](object); err == nil && keep(read) {
			list = append(list, Pair[T]{object, read})
		}
	}
	return list
}

// Alone reports whether a Service leads to the pods of no other workload.
func (o *Objects) Alone(service *corev1.Service, of *unstructured.Unstructured) bool {
	selector := labels.SelectorFromSet(service.Spec.Selector)
	return !slices.ContainsFunc(o.Workloads, func(other *unstructured.Unstructured) bool {
		return other != of && other.GetNamespace() == of.GetNamespace() &&
			selector.Matches(labels.Set(PodTemplate(other).Labels))
	})
}

// Sharing counts the workloads that have a container with an image.
func (o *Objects) Sharing(image string) int {
	count := 0
	for _, object := range o.Workloads {
		if object.GetKind() != "Job" && object.GetKind() != "CronJob" && slices.ContainsFunc(PodTemplate(object).Spec.Containers,
			func(c corev1.Container) bool { return c.Image == image }) {
			count++
		}
	}
	return count
}

// MonitorsOf returns the ServiceMonitors that select one of the Services.
func (o *Objects) MonitorsOf(services []Pair[corev1.Service]) []*unstructured.Unstructured {
	return slices.DeleteFunc(o.of("monitoring.coreos.com", "ServiceMonitor"),
		func(monitor *unstructured.Unstructured) bool {
			content, _, _ := unstructured.NestedMap(monitor.Object, "spec", "selector")
			selector := SelectorOf(content)
			return !slices.ContainsFunc(services, func(s Pair[corev1.Service]) bool {
				return Matches(selector, s.Read.Labels)
			})
		})
}

// RoutesTo returns the routes that lead to a Service.
func (o *Objects) RoutesTo(isService func(name string) bool) []*unstructured.Unstructured {
	const group = "gateway.networking.k8s.io"
	routes := slices.Concat(o.of(group, "HTTPRoute"), o.of(group, KindGRPCRoute))
	return slices.DeleteFunc(routes, func(route *unstructured.Unstructured) bool {
		rules, _, _ := unstructured.NestedFieldNoCopy(route.Object, "spec", "rules")
		return !slices.ContainsFunc(Maps(rules), func(rule map[string]any) bool {
			return slices.ContainsFunc(Maps(rule["backendRefs"]), func(backend map[string]any) bool {
				name, _ := backend["name"].(string)
				return isService(name)
			})
		})
	})
}

// Backends returns the names of the Services that an Ingress sends traffic to.
func Backends(i *networkingv1.Ingress) []string {
	var names []string
	add := func(b *networkingv1.IngressBackend) {
		if b != nil && b.Service != nil {
			names = append(names, b.Service.Name)
		}
	}
	add(i.Spec.DefaultBackend)
	for _, rule := range i.Spec.Rules {
		if rule.HTTP != nil {
			for n := range rule.HTTP.Paths {
				add(&rule.HTTP.Paths[n].Backend)
			}
		}
	}
	return names
}

// HookAnnotation marks hooks of Helm, which exist only temporarily.
const HookAnnotation = "helm.sh/hook"

// IsHook reports whether an object is a hook of Helm.
func IsHook(object *unstructured.Unstructured) bool {
	return object.GetAnnotations()[HookAnnotation] != ""
}

// Controlled reports whether another workload made an object, and would make it again.
func Controlled(object *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return false
	}
	group, _, _ := strings.Cut(owner.APIVersion, "/")
	return slices.Contains([]string{"apps", "batch", "v1"}, group)
}

// GroupOf returns the API group of an object.
func GroupOf(object *unstructured.Unstructured) string {
	return object.GroupVersionKind().Group
}

// PodTemplate returns the pod template of a workload of any kind; nil for another object.
func PodTemplate(object *unstructured.Unstructured) *corev1.PodTemplateSpec {
	switch object.GetKind() {
	case "Pod":
		pod, _ := As[corev1.Pod](object)
		meta := metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}
		return &corev1.PodTemplateSpec{ObjectMeta: meta, Spec: pod.Spec}
	case "CronJob":
		job, _ := As[batchv1.CronJob](object)
		return &job.Spec.JobTemplate.Spec.Template
	case "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job":
		read, _ := As[appsv1.Deployment](object) // all of them have it in the same place
		return &read.Spec.Template
	}
	return nil
}

// SelectorOf reads a selector; one that cannot be read selects nothing.
func SelectorOf(content map[string]any) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(content, selector) != nil {
		return nil
	}
	return selector
}

// Matches reports whether a selector selects labels; one that is nil or empty selects nothing here.
func Matches(selector *metav1.LabelSelector, set map[string]string) bool {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return false
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set))
}

// Describe returns kind and name of an object.
func Describe(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// Maps returns the maps of a list.
func Maps(value any) []map[string]any {
	items, _ := value.([]any)
	var out []map[string]any
	for _, item := range items {
		if content, ok := item.(map[string]any); ok {
			out = append(out, content)
		}
	}
	return out
}

// KindGRPCRoute is the kind of a route whose paths are methods.
const KindGRPCRoute = "GRPCRoute"

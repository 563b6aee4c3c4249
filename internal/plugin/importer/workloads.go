package importer

import (
	"cmp"
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
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// world holds all given objects by kind.
type world struct {
	objects   []*unstructured.Unstructured
	workloads []*unstructured.Unstructured
	// taken are the objects that became part of an AppService.
	taken map[*unstructured.Unstructured]bool
	// unreadable are objects with fields of another type.
	unreadable []Failure
}

// hookAnnotation marks hooks of Helm, which exist only temporarily.
const hookAnnotation = "helm.sh/hook"

func sorted(objects []*unstructured.Unstructured) *world {
	w := &world{objects: objects, taken: map[*unstructured.Unstructured]bool{}}
	for _, object := range objects {
		if read := readable[groupOf(object)+"/"+object.GetKind()]; read != nil && read(object) != nil {
			w.unreadable = append(w.unreadable, Failure{describe(object), read(object)})
			w.taken[object] = true
		}
		switch {
		case workloads[groupOf(object)+"/"+object.GetKind()] && controlled(object):
			w.taken[object] = true // its controller makes it
		case isWorkload(object):
			w.workloads = append(w.workloads, object)
		}
	}
	return w
}

// readable are the kinds that belong to workloads, with whether an object can be read.
var readable = map[string]func(*unstructured.Unstructured) error{
	"/Service": reads[corev1.Service], "/ConfigMap": reads[corev1.ConfigMap], "/ServiceAccount": reads[corev1.ServiceAccount],
	"/PersistentVolumeClaim":              reads[corev1.PersistentVolumeClaim],
	"networking.k8s.io/Ingress":           reads[networkingv1.Ingress],
	"networking.k8s.io/NetworkPolicy":     reads[networkingv1.NetworkPolicy],
	"autoscaling/HorizontalPodAutoscaler": reads[autoscalingv2.HorizontalPodAutoscaler],
	"policy/PodDisruptionBudget":          reads[policyv1.PodDisruptionBudget],
}

func reads[T any](object *unstructured.Unstructured) error {
	_, err := as[T](object)
	return err
}

// in returns the objects of a namespace: those of another one have nothing to do with a workload.
func (w *world) in(namespace string) *world {
	of := func(list []*unstructured.Unstructured) []*unstructured.Unstructured {
		return slices.DeleteFunc(slices.Clone(list),
			func(o *unstructured.Unstructured) bool { return o.GetNamespace() != namespace })
	}
	return &world{objects: of(w.objects), workloads: of(w.workloads), taken: w.taken}
}

// workloads are the kinds that an AppService or AppJob is made of.
var workloads = map[string]bool{
	"apps/Deployment": true, "apps/StatefulSet": true, "apps/ReplicaSet": true, "/Pod": true,
	"/ReplicationController": true, "batch/Job": true, "batch/CronJob": true,
}

func isWorkload(object *unstructured.Unstructured) bool {
	return workloads[groupOf(object)+"/"+object.GetKind()] && !isHook(object) && object.GetAnnotations()[v1.AnnotationStage] == "" && !controlled(object)
}

func isHook(object *unstructured.Unstructured) bool {
	return object.GetAnnotations()[hookAnnotation] != ""
}

// controlled reports whether another workload made an object, and would make it again.
func controlled(object *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return false
	}
	group, _, _ := strings.Cut(owner.APIVersion, "/")
	return slices.Contains([]string{"apps", "batch", "v1"}, group)
}

// podTemplate returns the pod template of a workload of any kind; nil for another object.
func podTemplate(object *unstructured.Unstructured) *corev1.PodTemplateSpec {
	switch object.GetKind() {
	case "Pod":
		pod, _ := as[corev1.Pod](object)
		meta := metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}
		return &corev1.PodTemplateSpec{ObjectMeta: meta, Spec: pod.Spec}
	case "CronJob":
		job, _ := as[batchv1.CronJob](object)
		return &job.Spec.JobTemplate.Spec.Template
	case "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job":
		read, _ := as[appsv1.Deployment](object) // all of them have it in the same place
		return &read.Spec.Template
	}
	return nil
}

func groupOf(object *unstructured.Unstructured) string {
	return object.GroupVersionKind().Group
}

// of returns the objects of a group and kind.
func (w *world) of(group, kind string) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, object := range w.objects {
		if groupOf(object) == group && object.GetKind() == kind && object.GetAnnotations()[hookAnnotation] == "" {
			list = append(list, object)
		}
	}
	return list
}

// as reads an object as its Go type. Fields that the type does not have are left out.
func as[T any](object *unstructured.Unstructured) (*T, error) {
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

// only returns the objects for which keep returns true. Those that cannot be read are none of them.
func only[T any](w *world, group, kind string, keep func(*T) bool) []pair[T] {
	var list []pair[T]
	for _, object := range w.of(group, kind) {
		if read, err := as[T](object); err == nil && keep(read) {
			list = append(list, pair[T]{object, read})
		}
	}
	return list
}

// pair is an object as it was given, and converted to its Go type.
type pair[T any] struct {
	object *unstructured.Unstructured
	read   *T
}

// monitorsOf returns the ServiceMonitors that select one of the Services.
func (w *world) monitorsOf(services []pair[corev1.Service]) []*unstructured.Unstructured {
	return slices.DeleteFunc(w.of("monitoring.coreos.com", "ServiceMonitor"),
		func(monitor *unstructured.Unstructured) bool {
			content, _, _ := unstructured.NestedMap(monitor.Object, "spec", "selector")
			selector := selectorOf(content)
			return !slices.ContainsFunc(services, func(s pair[corev1.Service]) bool {
				return matches(selector, s.read.Labels)
			})
		})
}

// selectorOf reads a selector; one that cannot be read selects nothing.
func selectorOf(content map[string]any) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(content, selector) != nil {
		return nil
	}
	return selector
}

// routesTo returns the routes that lead to a Service.
func (w *world) routesTo(isService func(name string) bool) []*unstructured.Unstructured {
	const group = "gateway.networking.k8s.io"
	routes := slices.Concat(w.of(group, "HTTPRoute"), w.of(group, kindGRPCRoute))
	return slices.DeleteFunc(routes, func(route *unstructured.Unstructured) bool {
		rules, _, _ := unstructured.NestedFieldNoCopy(route.Object, "spec", "rules")
		return !slices.ContainsFunc(list(rules), func(rule map[string]any) bool {
			return slices.ContainsFunc(list(rule["backendRefs"]), func(backend map[string]any) bool {
				name, _ := backend["name"].(string)
				return isService(name)
			})
		})
	})
}

// backends returns the names of the Services that an Ingress sends traffic to.
func backends(i *networkingv1.Ingress) []string {
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

// leftOver adds a note for each object that became part of no AppService.
func (w *world) leftOver() []Note {
	var notes []Note
	for _, object := range w.objects {
		if w.taken[object] {
			continue
		}
		note := Note{Object: describe(object), Reason: w.leftOverReason(object), Remedy: leftOverRemedy(object)}
		notes = append(notes, note)
	}
	return notes
}

func (w *world) leftOverReason(object *unstructured.Unstructured) string {
	switch {
	case object.GetKind() == "ScaledObject":
		return "its triggers are not read"
	case w.elsewhere(object):
		return "no workload is in its namespace, " + cmp.Or(object.GetNamespace(), "which is not given")
	case object.GetAnnotations()[hookAnnotation] != "":
		return "only Helm makes it, as the hook " + object.GetAnnotations()[hookAnnotation]
	case object.GetKind() == "Secret" || object.GetKind() == "ConfigMap":
		return "it is not part of the AppService, which may refer to it"
	}
	return "no field of an AppService makes one"
}

// elsewhere reports whether an object could belong to a workload, and none is in its namespace.
func (w *world) elsewhere(object *unstructured.Unstructured) bool {
	return readable[groupOf(object)+"/"+object.GetKind()] != nil && len(w.in(object.GetNamespace()).workloads) == 0
}

func leftOverRemedy(object *unstructured.Unstructured) string {
	switch {
	case strings.HasPrefix(object.GetAnnotations()[hookAnnotation], "test"):
		return "run it by hand, or leave it out"
	case stage.OfHook(object.GetAnnotations()[hookAnnotation]) != "":
		return "in a chart of your own, the annotation " + v1.AnnotationStage + ": " +
			string(stage.OfHook(object.GetAnnotations()[hookAnnotation])) + " takes its place; or make it a Job that is applied beside the AppService"
	case object.GetAnnotations()[hookAnnotation] != "":
		return "make it a Job, or an AppJob, that is applied beside the AppService"
	case object.GetKind() == "ScaledObject":
		return "write them in spec.autoscaling.triggers"
	}
	return "apply it beside the AppService"
}

package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube/stage"
)

// world holds all given objects by kind.
type world struct {
	objects   []*unstructured.Unstructured
	workloads []*unstructured.Unstructured
	// taken are the objects that became part of an AppService.
	taken map[*unstructured.Unstructured]bool
}

// hookAnnotation marks hooks of Helm, which exist only temporarily.
const hookAnnotation = "helm.sh/hook"

func sorted(objects []*unstructured.Unstructured) *world {
	w := &world{objects: objects, taken: map[*unstructured.Unstructured]bool{}}
	for _, object := range objects {
		if isWorkload(object) && object.GetAnnotations()[hookAnnotation] == "" {
			w.workloads = append(w.workloads, object)
		}
	}
	return w
}

func isWorkload(object *unstructured.Unstructured) bool {
	return groupOf(object) == appsv1.GroupName && (object.GetKind() == "Deployment" || object.GetKind() == "StatefulSet")
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
		if named := json.Unmarshal(data, into); named != nil {
			err = named
		}
	}
	return into, err
}

// only returns the objects for which keep returns true, unless there was an error before. It records its own.
func only[T any](w *world, failed *error, group, kind string, keep func(*T) bool) []pair[T] {
	var list []pair[T]
	for _, object := range w.of(group, kind) {
		if *failed != nil {
			return nil
		}
		read, err := as[T](object)
		if err != nil {
			*failed = unreadable(object, err)
		} else if keep(read) {
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

func unreadable(object *unstructured.Unstructured, err error) error {
	return fmt.Errorf("%s: %w", describe(object), err)
}

// monitorsOf returns the ServiceMonitors that select one of the Services.
func (w *world) monitorsOf(services []pair[corev1.Service]) []*unstructured.Unstructured {
	return slices.DeleteFunc(w.of("monitoring.coreos.com", "ServiceMonitor"),
		func(monitor *unstructured.Unstructured) bool {
			content, _, _ := unstructured.NestedMap(monitor.Object, "spec", "selector")
			selector := &metav1.LabelSelector{}
			err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, selector)
			return err != nil || !slices.ContainsFunc(services, func(s pair[corev1.Service]) bool {
				return matches(selector, s.read.Labels)
			})
		})
}

// routesTo returns the routes that lead to a Service.
func (w *world) routesTo(isService func(name string) bool) []*unstructured.Unstructured {
	return slices.DeleteFunc(w.of("gateway.networking.k8s.io", "HTTPRoute"), func(route *unstructured.Unstructured) bool {
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
		notes = append(notes, Note{Object: describe(object), Reason: leftOverReason(object), Remedy: leftOverRemedy(object)})
	}
	return notes
}

func leftOverReason(object *unstructured.Unstructured) string {
	switch {
	case object.GetKind() == "ScaledObject":
		return "its triggers are not read"
	case object.GetAnnotations()[hookAnnotation] != "":
		return "only Helm makes it, as the hook " + object.GetAnnotations()[hookAnnotation]
	case object.GetKind() == "Secret" || object.GetKind() == "ConfigMap":
		return "it is not part of the AppService, which may refer to it"
	}
	return "no field of an AppService makes one"
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
	case object.GetKind() == "CronJob" || object.GetKind() == "Job":
		return "make it an AppJob, or apply it beside the AppService"
	}
	return "apply it beside the AppService"
}

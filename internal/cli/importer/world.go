package importer

import (
	"encoding/json"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
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

// find returns the object of a name; nil if there is none.
func (w *world) find(group, kind, name string) *unstructured.Unstructured {
	for _, object := range w.of(group, kind) {
		if object.GetName() == name {
			return object
		}
	}
	return nil
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
			*failed = &unreadable{object, err}
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

type unreadable struct {
	object *unstructured.Unstructured
	err    error
}

func (e *unreadable) Error() string { return describe(e.object) + ": " + e.err.Error() }
func (e *unreadable) Unwrap() error { return e.err }

// neighbors are the objects related to a workload by references or selectors.
type neighbors struct {
	services  []pair[corev1.Service]
	ingresses []pair[networkingv1.Ingress]
	scalers   []pair[autoscalingv2.HorizontalPodAutoscaler]
	budgets   []pair[policyv1.PodDisruptionBudget]
	policies  []pair[networkingv1.NetworkPolicy]
	accounts  []pair[corev1.ServiceAccount]
	claims    []pair[corev1.PersistentVolumeClaim]
	monitors  []*unstructured.Unstructured
	routes    []*unstructured.Unstructured
}

func (w *world) around(of *unstructured.Unstructured, template *corev1.PodTemplateSpec) (n neighbors, err error) {
	pods := template.Labels
	n.services = only(w, &err, "", "Service", func(s *corev1.Service) bool {
		return len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pods))
	})
	n.ingresses = only(w, &err, networkingv1.GroupName, "Ingress", func(i *networkingv1.Ingress) bool {
		return slices.ContainsFunc(backends(i), n.service)
	})
	n.scalers = only(w, &err, autoscalingv2.GroupName, "HorizontalPodAutoscaler", func(a *autoscalingv2.HorizontalPodAutoscaler) bool {
		return a.Spec.ScaleTargetRef.Kind == of.GetKind() && a.Spec.ScaleTargetRef.Name == of.GetName()
	})
	n.budgets = only(w, &err, policyv1.GroupName, "PodDisruptionBudget", func(b *policyv1.PodDisruptionBudget) bool {
		return matches(b.Spec.Selector, pods)
	})
	n.policies = only(w, &err, networkingv1.GroupName, "NetworkPolicy", func(p *networkingv1.NetworkPolicy) bool {
		return matches(&p.Spec.PodSelector, pods)
	})
	n.accounts = only(w, &err, "", "ServiceAccount", func(a *corev1.ServiceAccount) bool {
		return a.Name == template.Spec.ServiceAccountName
	})
	n.claims = only(w, &err, "", "PersistentVolumeClaim", func(c *corev1.PersistentVolumeClaim) bool {
		return slices.ContainsFunc(template.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == c.Name
		})
	})
	if err != nil {
		return n, err
	}
	n.monitors = w.monitorsOf(n.services)
	n.routes = w.routesTo(n)
	return n, nil
}

func (n neighbors) service(name string) bool {
	return slices.ContainsFunc(n.services, func(s pair[corev1.Service]) bool { return s.read.Name == name })
}

func (w *world) monitorsOf(services []pair[corev1.Service]) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, monitor := range w.of("monitoring.coreos.com", "ServiceMonitor") {
		content, _, _ := unstructured.NestedMap(monitor.Object, "spec", "selector")
		selector := &metav1.LabelSelector{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(content, selector) != nil {
			continue
		}
		if slices.ContainsFunc(services, func(s pair[corev1.Service]) bool { return matches(selector, s.read.Labels) }) {
			list = append(list, monitor)
		}
	}
	return list
}

func (w *world) routesTo(n neighbors) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, route := range w.of("gateway.networking.k8s.io", "HTTPRoute") {
		rules, _, _ := unstructured.NestedSlice(route.Object, "spec", "rules")
		if slices.ContainsFunc(rules, func(rule any) bool {
			content, _ := rule.(map[string]any)
			refs, _ := content["backendRefs"].([]any)
			return slices.ContainsFunc(refs, func(ref any) bool {
				backend, _ := ref.(map[string]any)
				name, _ := backend["name"].(string)
				return n.service(name)
			})
		}) {
			list = append(list, route)
		}
	}
	return list
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
	case object.GetAnnotations()[hookAnnotation] != "":
		return "make it a Job, or an AppJob, that is applied beside the AppService"
	case object.GetKind() == "ScaledObject":
		return "write them in spec.autoscaling.triggers"
	case object.GetKind() == "CronJob" || object.GetKind() == "Job":
		return "make it an AppJob, or apply it beside the AppService"
	}
	return "apply it beside the AppService"
}

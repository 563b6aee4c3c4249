package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/example/appservice-operator/internal/render/hooks"
)

// Roles of objects whose kind alone does not identify them.
const (
	roleWorkload = "workload"
	roleHeadless = "Service that names replicas"
	roleConfig   = "ConfigMap of the environment"
	roleFiles    = "ConfigMap of files"
	roleTask     = "release task"
)

// role identifies an object among those of an AppService.
func (s *subject) role(object *unstructured.Unstructured) string {
	switch {
	case isWorkload(object):
		return roleWorkload
	case s.isFurther(object):
		return roleFurther + object.GetName()
	case s.headless != nil && object == s.headless.object, object.GetLabels()["app.example.com/headless"] != "":
		return roleHeadless
	case object.GetKind() == "Job":
		return roleTask
	case object.GetKind() == "ConfigMap" && strings.HasSuffix(object.GetName(), "-files"):
		return roleFiles
	case object.GetKind() == "ConfigMap":
		return roleConfig
	}
	return object.GetKind()
}

// comparables are objects by role, normalized so that equivalent objects are equal: with the API server's defaults and
// ports by number, without selectors of pods, and without labels and annotations of the operator, Helm and Kubernetes.
func (s *subject) comparables(objects []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	side := &side{s: s, name: s.name}
	for _, object := range objects {
		if isWorkload(object) {
			side.template = podTemplate(s.adapted(object))
		}
		if object.GetKind() == "Service" && s.role(object) != roleHeadless {
			if service, err := as[corev1.Service](object); err == nil {
				side.services = append(side.services, service)
			}
		}
	}
	out := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		out[s.role(object)] = side.comparable(object)
	}
	return out
}

// side is one side of the comparison: the original objects, or the rendered ones.
type side struct {
	s        *subject
	name     string
	template *corev1.PodTemplateSpec
	services []*corev1.Service
}

func (side *side) comparable(object *unstructured.Unstructured) *unstructured.Unstructured {
	if side.s.role(object) == roleTask {
		return side.task(object)
	}
	out := &unstructured.Unstructured{Object: side.content(object)}
	metadata := map[string]any{"name": object.GetName()}
	if annotations := foreignAnnotations(object.GetAnnotations()); len(annotations) > 0 {
		metadata["annotations"] = asAny(annotations)
	}
	if labels := side.s.ownLabels(object.GetLabels()); len(labels) > 0 {
		metadata["labels"] = asAny(labels)
	}
	out.Object["metadata"] = metadata
	out.Object["apiVersion"], out.Object["kind"] = object.GetAPIVersion(), object.GetKind()
	delete(out.Object, "status")
	return out
}

func asAny(set map[string]string) map[string]any {
	out := make(map[string]any, len(set))
	for key, value := range set {
		out[key] = value
	}
	return out
}

func (side *side) content(object *unstructured.Unstructured) map[string]any {
	var out map[string]any
	switch object.GetKind() {
	case "Deployment":
		out = normalized(side.s.adapted(object), func(d *appsv1.Deployment) {
			defaultDeployment(d)
			side.workload(&d.Spec.Replicas, &d.Spec.Selector, &d.Spec.Template)
		})
	case "StatefulSet":
		out = normalized(side.s.adapted(object), func(s *appsv1.StatefulSet) {
			defaultStatefulSet(s)
			for n := range s.Spec.VolumeClaimTemplates {
				template := &s.Spec.VolumeClaimTemplates[n]
				template.ObjectMeta = metav1.ObjectMeta{Name: template.Name, Annotations: foreignAnnotations(template.Annotations)}
			}
			slices.SortFunc(s.Spec.VolumeClaimTemplates, byJSON)
			side.workload(&s.Spec.Replicas, &s.Spec.Selector, &s.Spec.Template)
		})
	case "Service":
		out = normalized(object, func(s *corev1.Service) {
			defaultService(s)
			s.Spec.Selector = nil
			for n := range s.Spec.Ports {
				s.Spec.Ports[n].TargetPort = intstr.Parse(side.anyNumber(s.Spec.Ports[n].TargetPort))
			}
		})
	case "Ingress":
		out = normalized(object, side.ingress)
	case "HorizontalPodAutoscaler":
		out = normalized(object, func(a *autoscalingv2.HorizontalPodAutoscaler) {
			defaultScaler(a)
			slices.SortFunc(a.Spec.Metrics, byJSON)
		})
	case "PersistentVolumeClaim":
		out = normalized(object, func(c *corev1.PersistentVolumeClaim) { defaultClaim(&c.Spec) })
	case "ServiceAccount":
		out = normalized(object, func(a *corev1.ServiceAccount) {
			fillPointer(&a.AutomountServiceAccountToken, true)
			a.Secrets = nil // made by earlier versions of Kubernetes
		})
	case "NetworkPolicy":
		out = normalized(object, side.networkPolicy)
	}
	if out == nil {
		return side.other(object)
	}
	if isWorkload(object) {
		out["apiVersion"], out["kind"] = object.GetAPIVersion(), object.GetKind()
		pullPolicy(&unstructured.Unstructured{Object: out})
	}
	return out
}

// pullPolicy sets the API server's default of imagePullPolicy.
func pullPolicy(object *unstructured.Unstructured) {
	_ = hooks.PullPolicy(context.Background(), nil, []*unstructured.Unstructured{object}) // it returns no error
}

// normalized returns the content of an object after changes to its Go type; nil if it cannot be read as that.
func normalized[T any](object *unstructured.Unstructured, change func(*T)) map[string]any {
	read, err := as[T](object)
	if err != nil {
		return nil
	}
	change(read)
	out, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(read) // which it was read from
	return out
}

// adapted returns an object; for the original workload, the one whose pods are adapted.
func (s *subject) adapted(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object != s.workload {
		return object
	}
	var read any = s.deployment
	if s.stateful != nil {
		read = s.stateful
	}
	out, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(read) // which it was read from
	return &unstructured.Unstructured{Object: out}
}

// podTemplate returns the pod template of a Deployment or StatefulSet, which both have in the same place.
func podTemplate(workload *unstructured.Unstructured) *corev1.PodTemplateSpec {
	read, _ := as[appsv1.Deployment](workload)
	return &read.Spec.Template
}

// workload normalizes what Deployments and StatefulSets have in common.
func (side *side) workload(replicas **int32, selector **metav1.LabelSelector, template *corev1.PodTemplateSpec) {
	*selector = nil
	if side.s.scaler != nil {
		*replicas = nil
	}
	side.pods(template)
}

func byJSON[T any](a, b T) int { return strings.Compare(inJSON(a), inJSON(b)) }

func inJSON(value any) string {
	data, _ := json.Marshal(value)
	return string(data)
}

func (side *side) pods(template *corev1.PodTemplateSpec) {
	template.ObjectMeta = metav1.ObjectMeta{Labels: template.Labels, Annotations: foreignAnnotations(template.Annotations)}
	delete(template.Labels, "pod-template-hash")
	for key := range template.Labels {
		if strings.HasPrefix(key, "app.example.com/") {
			delete(template.Labels, key)
		}
	}
	pod := &template.Spec
	for n := range pod.Containers {
		for _, probe := range []*corev1.Probe{pod.Containers[n].LivenessProbe, pod.Containers[n].ReadinessProbe,
			pod.Containers[n].StartupProbe} {
			switch {
			case probe == nil:
			case probe.HTTPGet != nil:
				probe.HTTPGet.Port = resolve(&pod.Containers[n], probe.HTTPGet.Port)
			case probe.TCPSocket != nil:
				probe.TCPSocket.Port = resolve(&pod.Containers[n], probe.TCPSocket.Port)
			}
		}
	}
	for n := range pod.TopologySpreadConstraints {
		if side.s.ownPods(pod.TopologySpreadConstraints[n].LabelSelector) {
			pod.TopologySpreadConstraints[n].LabelSelector = nil
		}
	}
	if account := side.s.account; account != nil && side.s.template.Spec.AutomountServiceAccountToken == nil &&
		account.read.AutomountServiceAccountToken != nil &&
		!*account.read.AutomountServiceAccountToken && *pod.AutomountServiceAccountToken {
		*pod.AutomountServiceAccountToken = false // the account decides
	}
}

// anyNumber returns the number of a port of the pods, as text; the name if the port is not found.
func (side *side) anyNumber(port intstr.IntOrString) string {
	if side.template == nil {
		return port.String()
	}
	return numberIn(side.template, port)
}

// numberIn returns the number of a port of any container, as text; the name if the port is not found.
func numberIn(template *corev1.PodTemplateSpec, port intstr.IntOrString) string {
	for _, list := range [][]corev1.Container{template.Spec.Containers, template.Spec.InitContainers} {
		for n := range list {
			if resolved := resolve(&list[n], port); resolved.Type == intstr.Int {
				return resolved.String()
			}
		}
	}
	return port.String()
}

func (side *side) ingress(i *networkingv1.Ingress) {
	defaultIngress(i)
	for _, rule := range i.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for n := range rule.HTTP.Paths {
			side.backend(rule.HTTP.Paths[n].Backend.Service)
		}
	}
	slices.SortStableFunc(i.Spec.Rules, func(a, b networkingv1.IngressRule) int { return cmp.Compare(a.Host, b.Host) })
	if i.Spec.DefaultBackend != nil {
		side.backend(i.Spec.DefaultBackend.Service)
	}
}

// backend replaces a Service of the workload, and its port, by the port of the pods that it leads to: which of several
// Services it is makes no difference.
func (side *side) backend(backend *networkingv1.IngressServiceBackend) {
	if backend == nil {
		return
	}
	if port := side.podPort(backend.Name, cmp.Or(backend.Port.Name, strconv.Itoa(int(backend.Port.Number)))); port != "" {
		*backend = networkingv1.IngressServiceBackend{Name: side.name, Port: networkingv1.ServiceBackendPort{Name: port}}
	}
}

// podPort returns the port of the pods that a port of a Service leads to, by name or number; empty if it is none of
// the workload.
func (side *side) podPort(service, port string) string {
	for _, s := range side.services {
		for _, entry := range s.Spec.Ports {
			if s.Name == service && (entry.Name == port || strconv.Itoa(int(entry.Port)) == port) {
				return side.anyNumber(cmp.Or(entry.TargetPort, intstr.FromInt32(entry.Port)))
			}
		}
	}
	return ""
}

func (side *side) networkPolicy(p *networkingv1.NetworkPolicy) {
	p.Spec.PodSelector = metav1.LabelSelector{}
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	for n := range p.Spec.Ingress {
		ports := p.Spec.Ingress[n].Ports
		for m := range ports {
			if ports[m].Port != nil {
				number := intstr.Parse(side.anyNumber(*ports[m].Port))
				ports[m].Port = &number
			}
			fillPointer(&ports[m].Protocol, corev1.ProtocolTCP)
		}
		slices.SortFunc(ports, byJSON)
		p.Spec.Ingress[n].Ports = slices.CompactFunc(ports, func(a, b networkingv1.NetworkPolicyPort) bool {
			return byJSON(a, b) == 0
		})
	}
}

// other are kinds without a Go type here.
func (side *side) other(object *unstructured.Unstructured) map[string]any {
	out := object.DeepCopy().Object
	spec, _ := out["spec"].(map[string]any)
	switch object.GetKind() {
	case "PodDisruptionBudget":
		delete(spec, "selector")
	case "ServiceMonitor":
		delete(spec, "selector")
		if names, _, _ := unstructured.NestedStringSlice(spec, "namespaceSelector", "matchNames"); slices.Equal(names,
			[]string{object.GetNamespace()}) {
			delete(spec, "namespaceSelector")
		}
		for _, endpoint := range list(spec["endpoints"]) {
			side.endpoint(endpoint)
		}
	case "HTTPRoute":
		for _, parent := range list(spec["parentRefs"]) {
			unless(parent, "group", "gateway.networking.k8s.io")
			unless(parent, "kind", "Gateway")
		}
		for _, rule := range list(spec["rules"]) {
			side.rule(rule)
		}
	}
	return out
}

func (side *side) endpoint(endpoint map[string]any) {
	unless(endpoint, "path", "/metrics")
	unless(endpoint, "scheme", "http")
	unless(endpoint, "honorLabels", false)
	name, _ := endpoint["port"].(string)
	target := endpoint["targetPort"]
	delete(endpoint, "port")
	delete(endpoint, "targetPort")
	for _, port := range side.ports() {
		if name != "" && port.Name == name || target != nil && port.TargetPort.String() == numberless(target) ||
			target != nil && side.anyNumber(port.TargetPort) == numberless(target) {
			endpoint["port"] = side.anyNumber(port.TargetPort)
		}
	}
}

// ports are those of all Services, each once for the first that has it.
func (side *side) ports() (list []corev1.ServicePort) {
	for _, service := range side.services {
		list = append(list, service.Spec.Ports...)
	}
	return list
}

func numberless(target any) string {
	if text, is := target.(string); is {
		return text
	}
	return inJSON(target)
}

func (side *side) rule(rule map[string]any) {
	for _, backend := range list(rule["backendRefs"]) {
		unless(backend, "group", "")
		unless(backend, "kind", "Service")
		unless(backend, "weight", int64(1))
		name, _ := backend["name"].(string)
		number, _ := backend["port"].(int64)
		if port := side.podPort(name, strconv.FormatInt(number, 10)); port != "" {
			backend["name"], backend["port"] = side.name, port
		}
	}
	side.filters(rule)
	if len(list(rule["matches"])) == 0 {
		rule["matches"] = []any{map[string]any{}}
	}
	for _, match := range list(rule["matches"]) {
		unless(match, "path", map[string]any{"type": "PathPrefix", "value": "/"})
		for _, header := range list(match["headers"]) {
			unless(header, "type", "Exact")
		}
	}
}

// filters sets the defaults of the filters of a rule, and puts them in order: theirs has no meaning that gateways share.
func (side *side) filters(rule map[string]any) {
	filters := list(rule["filters"])
	if len(filters) == 0 {
		return
	}
	for _, filter := range filters {
		if redirect, is := filter["requestRedirect"].(map[string]any); is {
			unless(redirect, "statusCode", int64(302))
		}
		if cors, is := filter["cors"].(map[string]any); is {
			unless(cors, "maxAge", int64(5))
		}
		if mirror, is := filter["requestMirror"].(map[string]any); is {
			backend, _ := mirror["backendRef"].(map[string]any)
			unless(backend, "group", "")
			unless(backend, "kind", "Service")
		}
		for _, modifier := range []string{"requestHeaderModifier", "responseHeaderModifier"} {
			headers, _ := filter[modifier].(map[string]any)
			for _, verb := range []string{"set", "add"} {
				sortBy("name", headers, verb)
			}
		}
	}
	sortBy("type", rule, "filters")
}

// sortBy sorts a list of maps by one of their texts.
func sortBy(by string, content map[string]any, field string) {
	items, _ := content[field].([]any)
	slices.SortStableFunc(items, func(a, b any) int {
		one, _ := a.(map[string]any)
		other, _ := b.(map[string]any)
		return cmp.Compare(fmt.Sprint(one[by]), fmt.Sprint(other[by]))
	})
}

// unless sets a field if it is missing.
func unless(content map[string]any, field string, value any) {
	if _, there := content[field]; !there {
		content[field] = value
	}
}

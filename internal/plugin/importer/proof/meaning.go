package proof

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// meaning returns what an object means, in the form of its fields. Two that mean the same are equal.
func (s *side) meaning(object *unstructured.Unstructured) map[string]any {
	var out map[string]any
	switch object.GetKind() {
	case "Service":
		out = s.ofService(as[corev1.Service](object))
	case "Ingress":
		out = s.ofIngress(as[networkingv1.Ingress](object))
	case "HorizontalPodAutoscaler":
		out = s.ofScaler(as[autoscalingv2.HorizontalPodAutoscaler](object))
	case "PersistentVolumeClaim":
		claim := as[corev1.PersistentVolumeClaim](object)
		defaultClaim(&claim.Spec)
		out = content(claim)
	case "NetworkPolicy":
		out = s.ofPolicy(as[networkingv1.NetworkPolicy](object))
	case "ServiceAccount":
		out = content(as[corev1.ServiceAccount](object))
		delete(out, "secrets")                      // made by earlier versions of Kubernetes
		delete(out, "automountServiceAccountToken") // the pods have it
	default:
		out = s.ofOther(object)
	}
	delete(out, "status")
	delete(out, "apiVersion")
	delete(out, "kind")
	prune(out)
	if role(object) == workload {
		out["kind"] = object.GetKind()
	}
	if isTask(object) {
		delete(out, "metadata")
		return out
	}
	set := object.GetLabels()
	if object.GetKind() == "ReplicationController" && len(set) == 0 {
		set = podsOf(object).Labels // their default
	}
	out["metadata"] = s.metadata(metav1.ObjectMeta{Name: object.GetName(), Labels: set, Annotations: object.GetAnnotations()})
	return out
}

func (s *side) ofOther(object *unstructured.Unstructured) map[string]any {
	if template := podsOf(object); template != nil {
		return s.ofWorkload(object, template)
	}
	out := object.DeepCopy().Object
	spec, _ := out["spec"].(map[string]any)
	switch object.GetKind() {
	case "PodDisruptionBudget":
		s.ofSelector(spec, "selector")
	case "ServiceMonitor":
		s.ofMonitor(object, spec)
	case "HTTPRoute":
		s.ofRoute(spec, map[string]any{"path": map[string]any{"type": "PathPrefix", "value": "/"}})
	case "GRPCRoute":
		s.ofRoute(spec, map[string]any{})
	}
	return out
}

// mine are labels and annotations that tools and Kubernetes itself keep, by domain or as a whole.
var mine = []string{"app.example.com", "deployment.kubernetes.io", "meta.helm.sh", "autoscaling.alpha.kubernetes.io",
	"kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt",
	"validations.keda.sh/hpa-ownership", "kompose.cmd", "kompose.version", "pod-template-hash",
	"controller-revision-hash", "pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller",
	"volume.kubernetes.io/selected-node", "volume.kubernetes.io/storage-provisioner",
	"volume.beta.kubernetes.io/storage-provisioner", "batch.kubernetes.io/job-name", "job-name", "controller-uid",
	"batch.kubernetes.io/controller-uid", "helm.sh/hook", "helm.sh/hook-weight", "helm.sh/hook-delete-policy"}

func (s *side) metadata(meta metav1.ObjectMeta) map[string]any {
	kept := func(set map[string]string) map[string]any {
		out := map[string]any{}
		for key, value := range set {
			domain, _, _ := strings.Cut(key, "/")
			if !slices.Contains(mine, key) && !slices.Contains(mine, domain) {
				out[key] = value
			}
		}
		return out
	}
	out := map[string]any{"labels": kept(meta.Labels), "annotations": kept(meta.Annotations)}
	if meta.Name != "" {
		out["name"] = meta.Name
	}
	return out
}

// ofSelector replaces a selector by its text, and adds what it finds.
func (s *side) ofSelector(spec map[string]any, field string) {
	selector, is := spec[field].(map[string]any)
	if !is {
		return
	}
	parsed := asSelector(selector)
	spec[field] = metav1.FormatLabelSelector(parsed)
	spec[field+" (finds)"] = s.selected(parsed)
}

func convert(from map[string]any, into any) {
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(from, into) // as far as it can be read
}

func (s *side) ofWorkload(object *unstructured.Unstructured, template *corev1.PodTemplateSpec) map[string]any {
	var out map[string]any
	switch object.GetKind() {
	case "StatefulSet":
		set := as[appsv1.StatefulSet](object)
		defaultStatefulSet(set)
		out = content(set)
		claims := newKeyed()
		for name, claim := range s.claims {
			claims.add(name, map[string]any{"spec": content(&claim.Spec),
				"metadata": s.metadata(metav1.ObjectMeta{Labels: claim.Labels, Annotations: claim.Annotations})})
		}
		claims.order = nil
		if s.governing == "" {
			delete(specOf(out), "serviceName")
		}
		if len(s.claims) == 0 {
			delete(specOf(out), "persistentVolumeClaimRetentionPolicy") // of no claims
		}
		specOf(out)["volumeClaimTemplates"] = claims
	case "CronJob":
		job := as[batchv1.CronJob](object)
		defaultCronJob(job)
		return s.ofJob(content(job), content(&job.Spec.JobTemplate.Spec), template)
	case "Job":
		job := as[batchv1.Job](object)
		defaultJob(&job.Spec)
		if isTask(object) {
			out := content(&job.Spec)
			out["template"] = s.podsOf(template, true)
			return map[string]any{"spec": out}
		}
		return s.ofJob(map[string]any{"spec": map[string]any{}}, content(&job.Spec), template)
	case "Pod":
		policy := template.Spec.RestartPolicy
		if policy == corev1.RestartPolicyNever || policy == corev1.RestartPolicyOnFailure {
			return s.ofJob(map[string]any{"spec": map[string]any{}}, map[string]any{}, template)
		}
		out = map[string]any{"spec": map[string]any{"replicas": int64(1)}}
	case "ReplicationController":
		out = object.DeepCopy().Object
		if selector, is := specOf(out)["selector"].(map[string]any); is {
			specOf(out)["selector"] = map[string]any{"matchLabels": selector}
		}
	default:
		deployment := as[appsv1.Deployment](object)
		defaultDeployment(deployment)
		out = content(deployment)
	}
	spec := specOf(out)
	if spec["selector"] == nil && object.GetKind() != "Pod" {
		spec["selector"] = map[string]any{"matchLabels": content(&template.ObjectMeta)["labels"]}
	}
	if spec["replicas"] == nil {
		spec["replicas"] = int64(1)
	}
	if s.scaled() {
		delete(spec, "replicas")
	}
	s.ofSelector(spec, "selector")
	spec["template"] = s.pods(template)
	return out
}

// ofJob returns one form for a Job, a CronJob and a Pod that ends.
func (s *side) ofJob(out, job map[string]any, template *corev1.PodTemplateSpec) map[string]any {
	delete(specOf(out), "jobTemplate")
	delete(job, "template")
	maps.Copy(specOf(out), job)
	specOf(out)["template"] = s.pods(template)
	return out
}

// specOf returns the spec of an object, which it makes if there is none.
func specOf(of map[string]any) map[string]any {
	if of["spec"] == nil {
		of["spec"] = map[string]any{}
	}
	out, _ := of["spec"].(map[string]any)
	return out
}

func (s *side) scaled() bool {
	return slices.ContainsFunc(s.Objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "HorizontalPodAutoscaler" || o.GetKind() == "ScaledObject"
	})
}

func (s *side) ofService(service *corev1.Service) map[string]any {
	defaultService(service)
	list := newKeyed()
	for n := range service.Spec.Ports {
		port := content(&service.Spec.Ports[n])
		port["targetPort"] = s.number(service.Spec.Ports[n].TargetPort)
		list.add(portKey(service.Spec.Ports[n].Port, service.Spec.Ports[n].Protocol), port)
	}
	list.order = nil
	selector := &metav1.LabelSelector{MatchLabels: service.Spec.Selector}
	service.Spec.Selector = nil
	out := content(service)
	spec := specOf(out)
	spec["ports"] = list
	spec["selector"], spec["selector (finds)"] = metav1.FormatLabelSelector(selector), s.selected(selector)
	return out
}

func (s *side) ofIngress(ingress *networkingv1.Ingress) map[string]any {
	defaultIngress(ingress)
	rules := newKeyed()
	for _, rule := range ingress.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			kind := string(*path.PathType)
			rules.add(cmp.Or(rule.Host, "any host")+" "+path.Path+" "+kind, s.backend(&path.Backend))
		}
	}
	tls := newKeyed()
	for _, entry := range ingress.Spec.TLS {
		for _, host := range entry.Hosts {
			tls.add(host, "Secret "+entry.SecretName)
		}
		if len(entry.Hosts) == 0 {
			tls.add("any host", "Secret "+entry.SecretName)
		}
	}
	rules.order, tls.order = nil, nil
	class := ingress.Spec.IngressClassName
	spec := map[string]any{"rules": rules, "tls": tls}
	if class != nil {
		spec["ingressClassName"] = *class
	}
	if ingress.Spec.DefaultBackend != nil {
		spec["defaultBackend"] = s.backend(ingress.Spec.DefaultBackend)
	}
	return map[string]any{"spec": spec}
}

// backend returns where traffic goes: to a port of the application, by number, or to something else.
func (s *side) backend(b *networkingv1.IngressBackend) string {
	if b.Service == nil {
		return inJSON(b.Resource)
	}
	service, to := s.service(b.Service.Name), intstr.FromInt32(b.Service.Port.Number)
	if b.Service.Port.Name != "" {
		to = intstr.FromString(b.Service.Port.Name)
	}
	return s.portOf(service, b.Service.Name, to)
}

// podPort returns the port of the pods that a port of a Service leads to.
func (s *side) podPort(port *corev1.ServicePort) string {
	return s.number(port.TargetPort) + strings.TrimPrefix(portKey(port.Port, port.Protocol), strconv.Itoa(int(port.Port)))
}

// portOf describes a port of a Service, by its name or number, as the port of the pods that it leads to: which of
// several Services it is makes no difference. The Service is nil if it is not one of the application.
func (s *side) portOf(service *corev1.Service, name string, to intstr.IntOrString) string {
	if service == nil {
		return "Service " + name + ":" + to.String()
	}
	for _, port := range service.Spec.Ports {
		if to.Type == intstr.String && port.Name == to.StrVal || to.Type == intstr.Int && port.Port == to.IntVal {
			return "its pods:" + s.podPort(&port)
		}
	}
	return "no port " + to.String() + " of Service " + name
}

func (s *side) ofScaler(scaler *autoscalingv2.HorizontalPodAutoscaler) map[string]any {
	defaultScaler(scaler)
	for n := range scaler.Spec.Metrics {
		if metric := scaler.Spec.Metrics[n].ContainerResource; metric != nil {
			if !s.has(metric.Container) {
				metric.Container = "no container " + metric.Container
			}
			metric.Container = s.name(metric.Container)
		}
	}
	slices.SortFunc(scaler.Spec.Metrics,
		func(a, b autoscalingv2.MetricSpec) int { return strings.Compare(inJSON(a), inJSON(b)) })
	scaler.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{}
	out := content(scaler)
	delete(specOf(out), "scaleTargetRef")
	return out
}

func (s *side) ofPolicy(policy *networkingv1.NetworkPolicy) map[string]any {
	defaultPolicy(policy)
	for n := range policy.Spec.Ingress {
		ports := policy.Spec.Ingress[n].Ports
		for m := range ports {
			if ports[m].Port != nil {
				number := intstr.Parse(s.number(*ports[m].Port))
				ports[m].Port = &number
			}
		}
		slices.SortFunc(ports, func(a, b networkingv1.NetworkPolicyPort) int { return strings.Compare(inJSON(a), inJSON(b)) })
		policy.Spec.Ingress[n].Ports = slices.CompactFunc(ports,
			func(a, b networkingv1.NetworkPolicyPort) bool { return inJSON(a) == inJSON(b) })
	}
	selector := policy.Spec.PodSelector
	out := content(policy)
	spec := specOf(out)
	delete(spec, "podSelector")
	s.selectors(spec)
	spec["podSelector"], spec["podSelector (finds)"] = metav1.FormatLabelSelector(&selector), s.selected(&selector)
	return out
}

func (s *side) ofMonitor(object *unstructured.Unstructured, spec map[string]any) {
	if spec == nil {
		return
	}
	found := s.services
	if selector, is := spec["selector"].(map[string]any); is {
		parsed := asSelector(selector)
		spec["selector"] = metav1.FormatLabelSelector(parsed)
		matcher, _ := metav1.LabelSelectorAsSelector(parsed)
		found = slices.DeleteFunc(slices.Clone(found), func(service *corev1.Service) bool {
			return matcher == nil || !matcher.Matches(labels.Set(service.Labels))
		})
		spec["selector (finds)"] = len(found) > 0
	}
	names, _, _ := unstructured.NestedStringSlice(spec, "namespaceSelector", "matchNames")
	if slices.Equal(names, []string{object.GetNamespace()}) {
		delete(spec, "namespaceSelector")
	}
	each(spec, "endpoints", func(endpoint map[string]any) { s.endpoint(endpoint, found) })
}

// endpoint replaces the port of Services by those of the pods that it scrapes.
func (s *side) endpoint(endpoint map[string]any, found []*corev1.Service) {
	unless(endpoint, "path", "/metrics")
	unless(endpoint, "scheme", "http")
	unless(endpoint, "honorLabels", false)
	name, _ := endpoint["port"].(string)
	target := intstr.Parse(strings.Trim(inJSON(endpoint["targetPort"]), `"`))
	var scraped []string
	for _, service := range found {
		for n := range service.Spec.Ports {
			port := &service.Spec.Ports[n]
			if name != "" && port.Name == name ||
				endpoint["targetPort"] != nil && s.number(port.TargetPort) == s.number(target) {
				scraped = append(scraped, s.podPort(port))
			}
		}
	}
	if slices.Sort(scraped); len(scraped) > 0 {
		endpoint["port"] = strings.Join(slices.Compact(scraped), ", ")
		delete(endpoint, "targetPort")
	}
}

// ofRoute sets the defaults of a route, all being the match for all requests.
func (s *side) ofRoute(spec, all map[string]any) {
	each(spec, "parentRefs", func(parent map[string]any) {
		unless(parent, "group", "gateway.networking.k8s.io")
		unless(parent, "kind", "Gateway")
	})
	each(spec, "rules", func(rule map[string]any) {
		each(rule, "backendRefs", func(backend map[string]any) {
			unless(backend, "weight", int64(1))
			s.ofBackend(backend)
		})
		s.filters(rule)
		unless(rule, "matches", []any{map[string]any{}})
		each(rule, "matches", func(match map[string]any) {
			for key, value := range all {
				unless(match, key, value)
			}
			if method, is := match["method"].(map[string]any); is {
				unless(method, "type", "Exact")
			}
			each(match, "headers", func(header map[string]any) { unless(header, "type", "Exact") })
		})
	})
}

// ofBackend replaces a Service of the application, and its port, by the port of the pods that it leads to.
func (s *side) ofBackend(backend map[string]any) {
	unless(backend, "group", "")
	unless(backend, "kind", "Service")
	name, _ := backend["name"].(string)
	number, _ := backend["port"].(int64)
	if service := s.service(name); service != nil && backend["namespace"] == nil {
		port := intstr.FromInt32(int32(number)) //nolint:gosec // by its schema
		backend["name"], backend["port"] = "", s.portOf(service, name, port)
	}
}

// filters sets the defaults of the filters of a rule. Their order has no meaning that gateways share, nor has that of
// headers.
func (s *side) filters(rule map[string]any) {
	each(rule, "filters", func(filter map[string]any) {
		if redirect, is := filter["requestRedirect"].(map[string]any); is {
			unless(redirect, "statusCode", int64(302))
		}
		if cors, is := filter["cors"].(map[string]any); is {
			unless(cors, "maxAge", int64(5))
		}
		if backend, is, _ := unstructured.NestedMap(filter, "requestMirror", "backendRef"); is {
			s.ofBackend(backend)
			_ = unstructured.SetNestedMap(filter, backend, "requestMirror", "backendRef")
		}
		for _, modifier := range []string{"requestHeaderModifier", "responseHeaderModifier"} {
			if headers, is := filter[modifier].(map[string]any); is {
				keyBy(headers, "set", "name")
				keyBy(headers, "add", "name")
				for _, list := range headers {
					if list, is := list.(*keyed); is {
						list.order = nil
					}
				}
			}
		}
	})
	filters, _ := rule["filters"].([]any)
	slices.SortStableFunc(filters, func(a, b any) int { return strings.Compare(kindOf(a), kindOf(b)) })
}

func kindOf(filter any) string {
	entry, _ := filter.(map[string]any)
	kind, _ := entry["type"].(string)
	return kind
}

func each(in map[string]any, name string, do func(map[string]any)) {
	items, _ := in[name].([]any)
	for _, item := range items {
		if entry, is := item.(map[string]any); is {
			do(entry)
		}
	}
}

// unless sets a field if it is missing.
func unless(content map[string]any, field string, value any) {
	if _, there := content[field]; !there {
		content[field] = value
	}
}

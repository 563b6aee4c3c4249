package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// nodeAddress is a placeholder for the address of any node: the operator does not read nodes.
const nodeAddress = "NODE"

// endpoints lists the addresses of the service, the best first: external, in the cluster, by node. Node addresses and
// wildcards have to be filled in by the reader: endpoints with these are never used as the URL.
func endpoints(out *v1.AppServiceStatus, in Input) {
	out.Endpoints, out.URL = nil, ""
	name, snapshot := in.Resource.GetName(), in.Snapshot
	if ingress := kube.As[networkingv1.Ingress](snapshot.Object(networkingv1.GroupName, "Ingress", name)); ingress != nil {
		out.Endpoints = append(out.Endpoints, ingressEndpoints(ingress)...)
	}
	for _, kind := range []string{"HTTPRoute", "GRPCRoute"} {
		if route := gateway.RouteOf(snapshot.Object(gateway.Group, kind, name)); route != nil {
			out.Endpoints = append(out.Endpoints, routeEndpoints(route, in.Gateways)...)
		}
	}
	for _, service := range servicesOf(name, snapshot) {
		out.Endpoints = append(out.Endpoints, serviceEndpoints(service, snapshot)...)
	}
	slices.SortStableFunc(out.Endpoints, func(a, b v1.Endpoint) int {
		return slices.Index(bestFirst, a.Scope) - slices.Index(bestFirst, b.Scope)
	})
	for _, endpoint := range out.Endpoints {
		if endpoint.Scope != v1.ScopeNode && !strings.Contains(endpoint.URL, "*") {
			out.URL = endpoint.URL
			return
		}
	}
}

// bestFirst are the scopes of endpoints.
var bestFirst = []v1.EndpointScope{v1.ScopeExternal, v1.ScopeCluster, v1.ScopeNode}

// servicesOf returns the Services whose addresses count: the main one, then the further ones by name. The main one is
// called as the resource, or marked.
func servicesOf(name string, snapshot *livestate.Snapshot) []*corev1.Service {
	var list []*corev1.Service
	for _, key := range slices.SortedFunc(maps.Keys(snapshot.Objects), kube.Key.Compare) {
		if key.Group != corev1.GroupName || key.Kind != "Service" {
			continue
		}
		service := kube.As[corev1.Service](snapshot.Objects[key])
		switch {
		case service == nil:
		case service.Labels[v1.LabelService] != "":
			list = append(list, service)
		case service.Name == name || service.Labels[v1.LabelMainService] != "":
			list = slices.Insert(list, 0, service)
		}
	}
	return list
}

func serviceEndpoints(service *corev1.Service, snapshot *livestate.Snapshot) []v1.Endpoint {
	var list []v1.Endpoint
	for _, balancer := range service.Status.LoadBalancer.Ingress {
		for _, port := range service.Spec.Ports {
			list = append(list, v1.Endpoint{Name: port.Name, Scope: v1.ScopeExternal,
				URL: address(port, cmp.Or(balancer.Hostname, literal(balancer.IP)), port.Port)})
		}
	}
	host := fmt.Sprintf("%s.%s.svc", service.Name, service.Namespace)
	if service.Spec.Type == corev1.ServiceTypeExternalName { // an alias, which neither certificates nor virtual hosts know
		host = service.Spec.ExternalName
	}
	for _, port := range service.Spec.Ports {
		list = append(list, v1.Endpoint{Name: port.Name, Scope: v1.ScopeCluster,
			URL: address(port, host, numberOf(service, port, snapshot))})
	}
	for _, port := range service.Spec.Ports {
		if port.NodePort != 0 {
			list = append(list, v1.Endpoint{Name: port.Name, Scope: v1.ScopeNode,
				URL: address(port, nodeAddress, port.NodePort)})
		}
	}
	return list
}

// numberOf returns the number of a Service's port under the name of the Service. The name of a headless Service leads
// to its pods directly: nothing in between translates ports.
func numberOf(service *corev1.Service, port corev1.ServicePort, snapshot *livestate.Snapshot) int32 {
	if service.Spec.ClusterIP != corev1.ClusterIPNone {
		return port.Port
	}
	if number, known := diagnose.PortsOf(podsOf(service, snapshot)).Target(port); known {
		return number
	}
	return port.Port
}

// podsOf returns the spec of the pods that a Service leads to, from the first workload by kind and name that creates
// such pods; without containers if there is none.
func podsOf(service *corev1.Service, snapshot *livestate.Snapshot) *corev1.PodSpec {
	selector := labels.SelectorFromSet(service.Spec.Selector)
	var first string
	found := &corev1.PodSpec{}
	for key, object := range snapshot.Objects {
		template := podTemplate(object)
		if template == nil || len(service.Spec.Selector) == 0 || !selector.Matches(labels.Set(template.Labels)) {
			continue
		}
		if first == "" || key.String() < first {
			first, found = key.String(), &template.Spec
		}
	}
	return found
}

// podTemplate returns the pod template of an object whose pods may serve; nil if it has none.
func podTemplate(object client.Object) *corev1.PodTemplateSpec {
	if workload, found := diagnose.WorkloadOf(object); found && workload.Group == appsv1.GroupName {
		return workload.Template
	}
	return nil
}

// literal formats an IP address for a URL.
func literal(ip string) string {
	if strings.Contains(ip, ":") {
		return "[" + ip + "]"
	}
	return ip
}

// routeEndpoints returns the paths of a route under each of its hosts, for each listener that it attaches to.
func routeEndpoints(route *gateway.Route, gateways gateway.Gateways) []v1.Endpoint {
	var paths []string
	for _, rule := range route.Spec.Rules {
		if len(rule.Matches) == 0 {
			paths = append(paths, "")
		}
		for _, match := range rule.Matches {
			if match.Path.Type != "RegularExpression" {
				paths = append(paths, strings.TrimSuffix(match.Path.Value, "/"))
			}
		}
	}
	var list []v1.Endpoint
	for _, address := range route.Addresses(gateways) {
		for _, path := range paths {
			if endpoint := (v1.Endpoint{Scope: v1.ScopeExternal, URL: address.String() + path}); !slices.Contains(list,
				endpoint) {
				list = append(list, endpoint)
			}
		}
	}
	return list
}

// address returns the URL of a port. The scheme is the application protocol if one is set, else what the port's name or
// number suggests.
func address(port corev1.ServicePort, host string, number int32) string {
	protocol := strings.ToLower(ptr.Deref(port.AppProtocol, ""))
	scheme := "http"
	switch {
	case port.Protocol != corev1.ProtocolTCP && port.Protocol != "":
		scheme = strings.ToLower(string(port.Protocol))
	case protocol == "https", protocol == "kubernetes.io/wss",
		protocol == "" && (port.Port == 443 || strings.HasPrefix(port.Name, "https")):
		scheme = "https"
	case protocol != "" && !strings.Contains(protocol, "/"): // a name with a domain is not a URL's scheme
		scheme = protocol
	}
	if scheme == "http" && number == 80 || scheme == "https" && number == 443 {
		return scheme + "://" + host
	}
	return fmt.Sprintf("%s://%s:%d", scheme, host, number)
}

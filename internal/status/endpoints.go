package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/diagnose"
	"github.com/example/appservice-operator/internal/kube"
)

// nodeAddress stands for the address of any node: the operator does not look at nodes.
const nodeAddress = "NODE"

// endpoints lists the addresses of the service, the best first: external, in the cluster, by node. A node's address has to
// be filled in by the reader, and so has what a wildcard stands for: they never are the URL.
func endpoints(out *v1.AppServiceStatus, resource *unstructured.Unstructured, snapshot *cluster.Snapshot) {
	out.Endpoints, out.URL = nil, ""
	name := resource.GetName()
	if ingress := kube.As[networkingv1.Ingress](snapshot.Object(networkingv1.GroupName, "Ingress", name)); ingress != nil {
		out.Endpoints = append(out.Endpoints, ingressEndpoints(ingress)...)
	}
	if route := kube.As[httpRoute](snapshot.Object("gateway.networking.k8s.io", "HTTPRoute", name)); route != nil {
		out.Endpoints = append(out.Endpoints, route.endpoints()...)
	}
	if service := kube.As[corev1.Service](snapshot.Object(corev1.GroupName, "Service", name)); service != nil {
		out.Endpoints = append(out.Endpoints, serviceEndpoints(service, Workload(resource, snapshot))...)
	}
	for _, endpoint := range out.Endpoints {
		if endpoint.Scope != v1.ScopeNode && !strings.Contains(endpoint.URL, "*") {
			out.URL = endpoint.URL
			return
		}
	}
}

func serviceEndpoints(service *corev1.Service, workload *appsv1.Deployment) []v1.Endpoint {
	var list []v1.Endpoint
	for _, balancer := range service.Status.LoadBalancer.Ingress {
		for _, port := range service.Spec.Ports {
			list = append(list, v1.Endpoint{Name: port.Name, Scope: v1.ScopeExternal, URL: address(port, cmp.Or(balancer.Hostname, literal(balancer.IP)), port.Port)})
		}
	}
	host := fmt.Sprintf("%s.%s.svc", service.Name, service.Namespace)
	for _, port := range service.Spec.Ports {
		number := port.Port
		if service.Spec.ClusterIP == corev1.ClusterIPNone { // the name is that of the pods: nothing in between translates ports
			number = targetNumber(port, workload)
		}
		list = append(list, v1.Endpoint{Name: port.Name, Scope: v1.ScopeCluster, URL: address(port, host, number)})
	}
	for _, port := range service.Spec.Ports {
		if port.NodePort != 0 {
			list = append(list, v1.Endpoint{Name: port.Name, Scope: v1.ScopeNode, URL: address(port, nodeAddress, port.NodePort)})
		}
	}
	return list
}

// targetNumber is the number that a Service's port has in pods.
func targetNumber(port corev1.ServicePort, workload *appsv1.Deployment) int32 {
	var ports diagnose.Ports
	if workload != nil {
		ports = diagnose.PortsOf(&workload.Spec.Template.Spec)
	}
	if number, known := ports.Target(port); known {
		return number
	}
	return port.Port
}

// literal is an IP address as it stands in a URL.
func literal(ip string) string {
	if strings.Contains(ip, ":") {
		return "[" + ip + "]"
	}
	return ip
}

// httpRoute is what tells the addresses of a route of the Gateway API, whose types are nobody's but its own.
type httpRoute struct {
	Spec struct {
		Hostnames []string `json:"hostnames"`
		Rules     []struct {
			Matches []struct {
				Path struct {
					Type  string `json:"type"`
					Value string `json:"value"`
				} `json:"path"`
			} `json:"matches"`
		} `json:"rules"`
	} `json:"spec"`
}

// endpoints are the paths of a route under each of its hosts. Whether the gateway serves TLS is the gateway's business: what
// does redirects.
func (r *httpRoute) endpoints() []v1.Endpoint {
	var list []v1.Endpoint
	for _, host := range r.Spec.Hostnames {
		for _, rule := range r.Spec.Rules {
			paths := []string{""}
			if len(rule.Matches) > 0 {
				paths = nil
			}
			for _, match := range rule.Matches {
				if match.Path.Type != "RegularExpression" {
					paths = append(paths, strings.TrimSuffix(match.Path.Value, "/"))
				}
			}
			for _, path := range paths {
				if endpoint := (v1.Endpoint{Scope: v1.ScopeExternal, URL: "http://" + host + path}); !slices.Contains(list, endpoint) {
					list = append(list, endpoint)
				}
			}
		}
	}
	return list
}

func ingressEndpoints(ingress *networkingv1.Ingress) []v1.Endpoint {
	secure := map[string]bool{}
	for _, tls := range ingress.Spec.TLS {
		for _, host := range tls.Hosts {
			secure[host] = true
		}
	}
	var list []v1.Endpoint
	for _, rule := range ingress.Spec.Rules {
		scheme := "http"
		if secure[rule.Host] {
			scheme = "https"
		}
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			list = append(list, v1.Endpoint{Scope: v1.ScopeExternal, URL: scheme + "://" + rule.Host + strings.TrimSuffix(path.Path, "/")})
		}
	}
	return list
}

// address is the URL of a port. The scheme is the application protocol where one is given, else what the port's name or
// number suggests.
func address(port corev1.ServicePort, host string, number int32) string {
	protocol := strings.ToLower(ptr.Deref(port.AppProtocol, ""))
	scheme := "http"
	switch {
	case port.Protocol != corev1.ProtocolTCP && port.Protocol != "":
		scheme = strings.ToLower(string(port.Protocol))
	case protocol == "https", protocol == "kubernetes.io/wss", protocol == "" && (port.Port == 443 || strings.HasPrefix(port.Name, "https")):
		scheme = "https"
	case protocol != "" && !strings.Contains(protocol, "/"): // a name with a domain is not a URL's scheme
		scheme = protocol
	}
	if scheme == "http" && number == 80 || scheme == "https" && number == 443 {
		return scheme + "://" + host
	}
	return fmt.Sprintf("%s://%s:%d", scheme, host, number)
}

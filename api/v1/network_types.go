package v1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Port is one port of the Service and of the main container.
type Port struct {
	// Name of the port, for example http. Required when there is more than one port.
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.matches('[a-z]') && !self.contains('--')",message="spec.ports[].name must contain a letter and no two dashes in a row"
	// +optional
	Name string `json:"name,omitempty"`

	// Protocol of the port.
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	// +kubebuilder:default=TCP
	// +optional
	Protocol corev1.Protocol `json:"protocol,omitempty"`

	// Port that the Service offers.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// TargetPort is the port that the container listens on. Defaults to port. A name is that of a sidecar's port, or of
	// another entry, which has a number.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="type(self) == string || (self >= 1 && self <= 65535)",message="spec.ports[].targetPort must be from 1 to 65535, or the name of a port"
	// +optional
	TargetPort *intstr.IntOrString `json:"targetPort,omitempty"`

	// NodePort opens this port on every node. The cluster has a range for these, usually 30000-32767.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	NodePort *int32 `json:"nodePort,omitempty"`

	// AppProtocol is the application protocol, for example http or kubernetes.io/h2c.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	AppProtocol *string `json:"appProtocol,omitempty"`
}

// Service refines the Service.
//
// +kubebuilder:validation:XValidation:rule="!has(self.clusterIP) || !has(self.type) || self.type == 'ClusterIP'",message="spec.service.clusterIP None needs spec.service.type ClusterIP"
// +kubebuilder:validation:XValidation:rule="!has(self.loadBalancerClass) || (has(self.type) && self.type == 'LoadBalancer')",message="spec.service.loadBalancerClass needs spec.service.type LoadBalancer"
// +kubebuilder:validation:XValidation:rule="!has(self.loadBalancerSourceRanges) || (has(self.type) && self.type == 'LoadBalancer')",message="spec.service.loadBalancerSourceRanges needs spec.service.type LoadBalancer"
type Service struct {
	// Name of the Service, by which others call it. Defaults to that of the AppService.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Name string `json:"name,omitempty"`

	// Type of the Service. Defaults to NodePort if a port has a nodePort, else to ClusterIP.
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service type",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:select:ClusterIP","urn:alm:descriptor:com.tectonic.ui:select:NodePort","urn:alm:descriptor:com.tectonic.ui:select:LoadBalancer"}
	Type corev1.ServiceType `json:"type,omitempty"`

	// Ports are the names of the entries of spec.ports that the Service offers. Defaults to all of them.
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=15
	// +optional
	Ports []string `json:"ports,omitempty"`

	// Annotations of the Service.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/'))",message="spec.service.annotations must not have keys that begin with app.example.com/, helm.sh/ or meta.helm.sh/: the operator and Helm set them"
	// +optional
	Annotations map[string]Annotation `json:"annotations,omitempty"`

	// LoadBalancerSourceRanges are the networks that the load balancer serves, for example 192.0.2.0/24.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(r, isCIDR(r))",message="spec.service.loadBalancerSourceRanges must be networks such as 192.0.2.0/24"
	// +optional
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`

	ServiceSettings `json:",inline"`
}

// Ingress describes how the service is reached by host name.
//
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || self.tls.all(t, t.hosts.all(h, self.hosts.exists(x, x.host == h)))",message="spec.ingress.tls[].hosts must be among spec.ingress.hosts[].host"
// +kubebuilder:validation:XValidation:rule="self.hosts.map(h, has(h.paths) && size(h.paths) > 0 ? size(h.paths) : 1).sum() <= 128",message="spec.ingress.hosts must not have more than 128 paths together: spread them over several AppServices"
// +kubebuilder:validation:XValidation:rule="!(has(self.issuer) && has(self.clusterIssuer))",message="spec.ingress takes issuer or clusterIssuer, not both"
type Ingress struct {
	// ClassName is the IngressClass that serves it. Defaults to the cluster's default class.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ClassName *string `json:"className,omitempty"`

	// Annotations of the Ingress.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/'))",message="spec.ingress.annotations must not have keys that begin with app.example.com/, helm.sh/ or meta.helm.sh/: the operator and Helm set them"
	// +optional
	Annotations map[string]Annotation `json:"annotations,omitempty"`

	// Hosts are the host names and their paths. Empty where anyHost or defaultBackend is all there is.
	// +listType=map
	// +listMapKey=host
	// +kubebuilder:validation:MaxItems=32
	Hosts []IngressHost `json:"hosts"`

	// AnyHost serves these paths under all hosts that no Ingress names; the platform has to allow it (wildcardHosts).
	// +optional
	AnyHost *IngressAnyHost `json:"anyHost,omitempty"`

	// DefaultBackend is the port that gets what no rule matches, of any host, so that the platform has to allow it
	// (wildcardHosts).
	// +optional
	DefaultBackend *IngressDefaultBackend `json:"defaultBackend,omitempty"`

	// TLS lists the certificates to serve, each from a Secret.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +optional
	TLS []IngressTLS `json:"tls,omitempty"`

	// Issuer is the cert-manager Issuer, in the same namespace, that makes the certificates.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Issuer string `json:"issuer,omitempty"`

	// ClusterIssuer is the cert-manager ClusterIssuer that makes the certificates.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ClusterIssuer string `json:"clusterIssuer,omitempty"`
}

// IngressHost is one host name and what is served under it.
type IngressHost struct {
	// Host is a DNS name; *.example.com stands for one label.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Host string `json:"host"`

	// Paths under this host. Defaults to everything under /, sent to the first port.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Paths []IngressPath `json:"paths,omitempty"`
}

// IngressAnyHost serves paths under all hosts that no Ingress names.
type IngressAnyHost struct {
	// Paths under these hosts. Defaults to everything under /, sent to the first port.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Paths []IngressPath `json:"paths,omitempty"`
}

// IngressDefaultBackend is the port that gets what no rule matches.
type IngressDefaultBackend struct {
	// Port is the port of an entry in spec.ports. Defaults to the first.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// IngressPath sends one path to one port.
//
// +kubebuilder:validation:XValidation:rule="!has(self.path) || self.?pathType.orValue('Prefix') == 'ImplementationSpecific' || !self.path.matches('//|/[.][.]?(/|$)|%2[fF]')",message="spec.ingress.hosts[].paths[].path must not have //, /./, /../ or %2F, nor end with /. or /.., unless pathType is ImplementationSpecific"
type IngressPath struct {
	// Path to match. Defaults to /.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[^\s]*$`
	// +optional
	Path string `json:"path,omitempty"`

	// PathType is how path is matched. Defaults to Prefix.
	// +kubebuilder:validation:Enum=Exact;Prefix;ImplementationSpecific
	// +optional
	PathType networkingv1.PathType `json:"pathType,omitempty"`

	// Port is the port of an entry in spec.ports. Defaults to the first.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// IngressTLS is one certificate and the hosts that it serves.
type IngressTLS struct {
	// SecretName is the Secret that holds the certificate. cert-manager makes it when an issuer is set.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// Hosts that the certificate serves, each among spec.ingress.hosts.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=253
	Hosts []string `json:"hosts"`
}

// Route describes an HTTPRoute or a GRPCRoute of the Gateway API.
//
// +kubebuilder:validation:XValidation:rule="size(self.parentRefs) * (has(self.hostnames) && size(self.hostnames) > 0 ? size(self.hostnames) : 1) * (has(self.rules) && size(self.rules) > 0 ? self.rules.map(r, has(r.matches) && size(r.matches) > 0 ? size(r.matches) : 1).sum() : 1) <= 128",message="spec.route must not have more than 128 combinations of parentRefs, hostnames and matches: spread them over several AppServices"
type Route struct {
	// ParentRefs are the Gateways, or their listeners, that serve the route.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	ParentRefs []RouteParent `json:"parentRefs"`

	// Hostnames that the route answers to. Defaults to those of the Gateway.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +optional
	Hostnames []string `json:"hostnames,omitempty"`

	// Rules send requests to ports. Defaults to everything, sent to the first port.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Rules []RouteRule `json:"rules,omitempty"`

	// Kind of the route. In a GRPCRoute, a path /SERVICE or /SERVICE/METHOD is a method, and rules have no redirect,
	// rewrite, CORS, retry and timeouts. Defaults to HTTPRoute.
	// +kubebuilder:validation:Enum=HTTPRoute;GRPCRoute
	// +optional
	Kind string `json:"kind,omitempty"`

	// RedirectHTTP redirects plain HTTP to HTTPS. The route itself then serves the Gateway's listeners on port 443, or
	// the one that sectionName names.
	// +optional
	RedirectHTTP bool `json:"redirectHTTP,omitempty"`

	// HTTPListener is the Gateway's listener that redirectHTTP redirects. Defaults to those on port 80.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	HTTPListener string `json:"httpListener,omitempty"`

	// TLS is the certificate of the hostnames, on listeners of their own, which the Gateway has to allow for this
	// namespace.
	// +optional
	TLS *RouteTLS `json:"tls,omitempty"`
}

// RouteParent is a Gateway, or one of its listeners.
type RouteParent struct {
	// Name of the Gateway.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Gateway. Defaults to that of the AppService.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// SectionName is the listener of the Gateway. Defaults to all that fit.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SectionName string `json:"sectionName,omitempty"`
}

// RouteRule sends requests that match to a port.
type RouteRule struct {
	// Matches are conditions on requests; a request has to meet one of them. Defaults to every path.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Matches []RouteMatch `json:"matches,omitempty"`

	// Port is the port of an entry in spec.ports. Defaults to the first.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// RequestTimeout is how long a request may take, for example 10s.
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
	// +optional
	RequestTimeout string `json:"requestTimeout,omitempty"`

	// BackendRequestTimeout is how long one attempt at a pod may take, for example 5s.
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
	// +optional
	BackendRequestTimeout string `json:"backendRequestTimeout,omitempty"`

	// Retry repeats requests that failed.
	// +optional
	Retry *RouteRetry `json:"retry,omitempty"`

	// Redirect answers with a redirect, and sends requests nowhere.
	// +optional
	Redirect *RouteRedirect `json:"redirect,omitempty"`

	// Rewrite changes host or path before requests are sent.
	// +optional
	Rewrite *RouteRewrite `json:"rewrite,omitempty"`

	// RequestHeaders changes headers of requests.
	// +optional
	RequestHeaders *RouteHeaders `json:"requestHeaders,omitempty"`

	// ResponseHeaders changes headers of responses.
	// +optional
	ResponseHeaders *RouteHeaders `json:"responseHeaders,omitempty"`

	// CORS answers browsers of other sites.
	// +optional
	CORS *RouteCORS `json:"cors,omitempty"`

	// Mirror sends a copy of requests elsewhere; its responses are dropped.
	// +optional
	Mirror *RouteMirror `json:"mirror,omitempty"`

	// Backends share the requests by weight, instead of port.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Backends []RouteBackend `json:"backends,omitempty"`
}

// RouteMatch is a condition on requests: a request has to meet all of its fields that are set.
type RouteMatch struct {
	// Path of the request.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	Path string `json:"path,omitempty"`

	// PathType is how path is matched. Defaults to PathPrefix.
	// +kubebuilder:validation:Enum=Exact;PathPrefix;RegularExpression
	// +optional
	PathType string `json:"pathType,omitempty"`

	// Method of the request.
	// +kubebuilder:validation:Enum=GET;HEAD;POST;PUT;DELETE;CONNECT;OPTIONS;TRACE;PATCH
	// +optional
	Method string `json:"method,omitempty"`

	// Headers of the request and their values.
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	Headers map[string]Annotation `json:"headers,omitempty"`
}

// NetworkPolicy limits traffic from and to the pods.
type NetworkPolicy struct {
	// Enabled creates a NetworkPolicy. Without from, everyone may still reach the ports, and only these, unless
	// access.from limits that.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Network policy enabled",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"}
	Enabled bool `json:"enabled,omitempty"`

	// From lists who may reach the ports.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	From []networkingv1.NetworkPolicyPeer `json:"from,omitempty"`

	// Ingress lists further rules: who may reach which ports. With it, the ports are no longer open to everyone: only
	// from, access.from and these rules admit peers. A port is a name in spec.ports, or a number of the pods'.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Ingress []networkingv1.NetworkPolicyIngressRule `json:"ingress,omitempty"`

	// Egress lists whom the pods may reach. If left out, they may reach everything; if empty, nothing.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Egress *[]networkingv1.NetworkPolicyEgressRule `json:"egress,omitempty"`
}

package v1

import corev1 "k8s.io/api/core/v1"

// ServiceSettings are what each Service of an AppService may say.
type ServiceSettings struct {
	// SessionAffinity ClientIP sends all requests of a client to the same pod.
	// +kubebuilder:validation:Enum=None;ClientIP
	// +optional
	SessionAffinity corev1.ServiceAffinity `json:"sessionAffinity,omitempty"`

	// ExternalTrafficPolicy Local keeps the client's address and sends traffic to pods on the same node only.
	// +kubebuilder:validation:Enum=Cluster;Local
	// +optional
	ExternalTrafficPolicy corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`

	// TrafficDistribution prefers pods near to the caller: those in its zone, or on its node. PreferClose is the former
	// name of PreferSameZone. Defaults to any pod.
	// +kubebuilder:validation:Enum=PreferSameZone;PreferSameNode;PreferClose
	// +optional
	TrafficDistribution string `json:"trafficDistribution,omitempty"`

	// LoadBalancerClass names the implementation of the load balancer.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	LoadBalancerClass *string `json:"loadBalancerClass,omitempty"`

	// ClusterIP None makes the Service headless: its name resolves to the pods.
	// +kubebuilder:validation:Enum=None
	// +optional
	ClusterIP string `json:"clusterIP,omitempty"`

	// PublishNotReadyAddresses leads to pods before they are ready, too, so that they find each other.
	// +optional
	PublishNotReadyAddresses *bool `json:"publishNotReadyAddresses,omitempty"`

	// IPFamilyPolicy decides whether the Service has addresses of one family or of both. Defaults to one.
	// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
	// +optional
	IPFamilyPolicy corev1.IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`

	// IPFamilies are the families of its addresses, the first one first. Defaults to the cluster's.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:Enum=IPv4;IPv6
	// +optional
	IPFamilies []corev1.IPFamily `json:"ipFamilies,omitempty"`
}

// FurtherService is a Service that leads to the same pods as the first one, under a name of its own.
//
// +kubebuilder:validation:XValidation:rule="!has(self.clusterIP) || !has(self.type) || self.type == 'ClusterIP'",message="spec.services[].clusterIP None needs spec.services[].type ClusterIP"
// +kubebuilder:validation:XValidation:rule="!has(self.loadBalancerClass) && !has(self.loadBalancerSourceRanges) || (has(self.type) && self.type == 'LoadBalancer')",message="spec.services[].loadBalancerClass and loadBalancerSourceRanges need spec.services[].type LoadBalancer"
// +kubebuilder:validation:XValidation:rule="!has(self.externalTrafficPolicy) || (has(self.type) ? self.type != 'ClusterIP' : has(self.ports) && self.ports.exists(p, has(p.nodePort)))",message="spec.services[].externalTrafficPolicy needs spec.services[].type NodePort or LoadBalancer, or a nodePort in its ports"
// +kubebuilder:validation:XValidation:rule="(!has(self.clusterIP) && (!has(self.type) || self.type != 'ClusterIP')) || !has(self.ports) || self.ports.all(p, !has(p.nodePort))",message="spec.services[].ports[].nodePort needs spec.services[].type NodePort or LoadBalancer, and excludes clusterIP None: leave one of them out"
type FurtherService struct {
	// Name of the Service, by which others call it.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Type of the Service. Defaults to NodePort if a port has a nodePort, else to ClusterIP.
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	// +optional
	Type corev1.ServiceType `json:"type,omitempty"`

	// Ports are entries of spec.ports that it offers. Defaults to all of them, without node ports.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Ports []ServicePort `json:"ports,omitempty"`

	// Annotations of the Service.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/'))",message="spec.services[].annotations must not have keys that begin with app.example.com/, helm.sh/ or meta.helm.sh/: the operator and Helm set them"
	// +optional
	Annotations map[string]Annotation `json:"annotations,omitempty"`

	// LoadBalancerSourceRanges are the networks that the load balancer serves, for example 192.0.2.0/24.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(r, isCIDR(r))",message="spec.services[].loadBalancerSourceRanges must be networks such as 192.0.2.0/24"
	// +optional
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`

	ServiceSettings `json:",inline"`
}

// ServicePort is an entry of spec.ports as a further Service offers it.
type ServicePort struct {
	// Name of the entry in spec.ports.
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Port that this Service offers. Defaults to that of the entry.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// NodePort opens the port on every node.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	NodePort *int32 `json:"nodePort,omitempty"`
}
